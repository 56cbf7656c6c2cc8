"""Drives headless Chromium through its debugging pipe: no driver and no package is needed."""

import base64
import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from tests.report.browser import BROWSER

OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    "--remote-debugging-pipe", "--hide-scrollbars",
)  # fmt: skip
KEYS = {"Enter": 13, "ArrowUp": 38, "ArrowDown": 40, "ArrowRight": 39, "ArrowLeft": 37, "Tab": 9, " ": 32, "z": 90}


class Chromium:
    """One tab; remembers what the console said and which addresses were asked for."""

    def __init__(self, profile: Path) -> None:
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        # Chromium reads commands from descriptor 3 and answers on descriptor 4, whatever these are here.
        wiring = f"exec 8<&{commands} 9>&{answers} 3<&8 4>&9; exec "
        call = wiring + " ".join([f"'{BROWSER}'", *OPTIONS, f"'--user-data-dir={profile}'", "about:blank"])
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", call],
            pass_fds=(commands, answers),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._buffer, self._number, self._session = b"", 0, ""
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._send(f"{domain}.enable")

    def __enter__(self) -> "Chromium":
        return self

    def __exit__(self, *_: object) -> None:
        self._session = ""
        with suppress(OSError, AssertionError):
            self._send("Browser.close")
        for end in (self._write, self._read):
            os.close(end)
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def open(self, address: str, width: int = 1280, height: int = 900, dark: bool = False, touch: bool = False) -> None:
        """Load a page on a screen of some size, and wait until its script has run."""
        self._send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        self._send("Emulation.setTouchEmulationEnabled", enabled=touch)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._send("Emulation.setEmulatedMedia", features=[scheme])
        self._send("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        self.complaints, self.requests = [], []
        self._send("Page.navigate", url=address)
        self.wait("document.documentElement?.dataset.ready === 'yes'")

    def run(self, script: str) -> Any:
        """The value of an expression in the page; promises are awaited."""
        answer = self._send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, script: str, seconds: float = 20.0) -> None:
        """Wait until an expression is true."""
        end = monotonic() + seconds
        while not self.run(f"Boolean({script})"):
            assert monotonic() < end, f"still not true: {script}; {self.complaints}"
            sleep(0.02)

    def click(self, selector: str) -> None:
        """Press the mouse in the middle of an element, as a person would."""
        self.hold(selector)
        self.let_go(selector)

    def hold(self, selector: str) -> None:
        self._mouse("mousePressed", selector)

    def let_go(self, selector: str) -> None:
        self._mouse("mouseReleased", selector)

    def _mouse(self, kind: str, selector: str) -> None:
        x, y = self._middle(selector)
        self._send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def tap(self, selector: str) -> None:
        x, y = self._middle(selector)
        self._send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self._send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def drag(self, selector: str, shares: list[float]) -> None:
        """Press on a slider and move along it to some shares of its width."""
        box = self.run(f"(({BOX})({json.dumps(selector)}))")
        y = box["y"] + box["height"] / 2
        places = [box["x"] + share * box["width"] for share in shares]
        mouse = {"button": "left", "clickCount": 1}
        self._send("Input.dispatchMouseEvent", type="mousePressed", x=places[0], y=y, **mouse)
        for x in places[1:]:
            self._send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, buttons=1, **mouse)
        self._send("Input.dispatchMouseEvent", type="mouseReleased", x=places[-1], y=y, **mouse)

    def type(self, text: str) -> None:
        self._send("Input.insertText", text=text)

    def press(self, key: str, modifiers: int = 0) -> None:
        """Press a key; modifiers are Alt 1, Ctrl 2, Shift 8, added up."""
        for kind in ("rawKeyDown", "keyUp"):
            code = KEYS[key]
            self._send("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, modifiers=modifiers)

    def screenshot(self, path: Path, whole: bool = False) -> None:
        answer = self._send(
            "Page.captureScreenshot", captureBeyondViewport=whole, **({"clip": self._whole()} if whole else {})
        )
        path.write_bytes(base64.b64decode(answer["data"]))

    def _whole(self) -> dict[str, float]:
        size = self._send("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}

    def _middle(self, selector: str) -> tuple[float, float]:
        box = self.run(f"(({BOX})({json.dumps(selector)}))")
        assert box is not None, f"nothing is {selector}"
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def _send(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        rest = memoryview(json.dumps(message).encode() + b"\0")
        while rest:
            rest = rest[os.write(self._write, rest) :]
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self._note(answer)

    def _receive(self) -> Any:
        while b"\0" not in self._buffer:
            piece = os.read(self._read, 1 << 16)
            assert piece, "Chromium has ended"
            self._buffer += piece
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _note(self, event: Any) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"].get("exception", {}).get("description")))
        elif method == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(" ".join(str(value.get("value")) for value in parameters["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])


BOX = """(selector) => {
  const element = document.querySelector(selector);
  if (!element) return null;
  element.scrollIntoView({ block: "center", behavior: "instant" });
  const { x, y, width, height } = element.getBoundingClientRect();
  return { x, y, width, height };
}"""

"""A small web server for one person on one machine: a random token, no other origin, nothing written unless asked."""

import json
import secrets
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

from diprl.errors import DiprlError
from diprl.report.charts import overview
from diprl.report.page import load_template, render_live
from diprl.report.studio.bench import Bench, Job

LARGEST = 4_000_000
"""Bytes of a request that are read at all."""
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Studio(ThreadingHTTPServer):
    """Runs side by side, each on its own workbench, and at most one long job at a time."""

    daemon_threads = True

    def __init__(self, benches: Sequence[Bench], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.benches, self.token = benches, secrets.token_urlsafe(24)
        self.jobs: list[Job] = []
        self.lock, self._pages = Lock(), dict[int, str]()

    @property
    def hosts(self) -> tuple[str, str]:
        return f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}"

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://{self.hosts[0]}/?token={self.token}"

    def page(self, number: int) -> str:
        """The page about one run, made when it is first asked for."""
        with self.lock:
            if number not in self._pages:
                bench, told = self.benches[number], {"token": self.token, "run": number}
                table = overview([each.source for each in self.benches])
                self._pages[number] = render_live(bench.source, bench.wanted, told, table)
            return self._pages[number]

    def start(self, job: Job) -> int:
        """Begin a job, unless another one is running."""
        with self.lock:
            if any(each.running for each in self.jobs):
                raise DiprlError("another job is running: stop it or wait for its end")
            self.jobs.append(job.start())
            return len(self.jobs) - 1


class Handler(BaseHTTPRequestHandler):
    """Answers one request after checking who asks."""

    server: Studio
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        self._answer({"/": lambda asked: self.server.page(self._run(asked))}, asked.get("token", ""), lambda: asked)

    def do_POST(self) -> None:
        studio = self.server

        def bench(asked: dict[str, Any]) -> Bench:
            return studio.benches[self._run(asked)]

        def start(asked: dict[str, Any]) -> dict[str, Any]:
            return {"job": studio.start(bench(asked).job(asked["kind"], asked["text"], asked.get("amount")))}

        routes: dict[str, Callable[[Any], Any]] = {
            "/score": lambda asked: bench(asked).score(asked["text"], asked["episodes"]),
            "/job": start,
            "/told": lambda asked: studio.jobs[int(asked["job"])].told(),
            "/stop": lambda asked: studio.jobs[int(asked["job"])].stop(),
            "/save": lambda asked: bench(asked).save(asked["text"]),
        }
        self._answer(routes, self.headers.get("X-Diprl-Token", ""), self._body)

    def log_message(self, format: str, *args: Any) -> None:
        """The terminal is the user's."""

    def _answer(self, routes: dict[str, Callable[[Any], Any]], token: str, read: Callable[[], Any]) -> None:
        """Check the token, then do what was asked; a mistake is told in one sentence."""
        if refusal := self._refusal(token):
            self.close_connection = True  # what came without the token is not read
            return self._send(403, {"error": refusal})
        route = routes.get(urlsplit(self.path).path)
        if route is None:
            return self._send(404, {"error": "there is no such page"})
        try:
            self._send(200, route(read()) or {})
        except (DiprlError, KeyError, TypeError, ValueError, IndexError) as error:
            self._send(400, {"error": str(error) if isinstance(error, DiprlError) else f"bad request: {error!r:.80}"})
        except ConnectionError:
            pass  # the page was closed
        return None

    def _refusal(self, token: str) -> str:
        """Why this request is not answered; empty if it is. A name that is not ours means a rebound address."""
        origin = self.headers.get("Origin")
        if self.headers.get("Host") not in self.server.hosts:
            return "the studio answers on this machine only"
        if origin is not None and origin not in [f"http://{host}" for host in self.server.hosts]:
            return "the studio answers its own page only"
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            return "the token is missing or wrong: open the address that the terminal shows"
        return ""

    def _body(self) -> dict[str, Any]:
        size = int(self.headers.get("Content-Length", 0))
        if not 0 <= size <= LARGEST:
            self.close_connection = True
            raise DiprlError("the request is too large")
        content = json.loads(self.rfile.read(size) or b"{}")
        if not isinstance(content, dict):
            raise DiprlError("the request must be a JSON object")
        return content

    def _run(self, asked: dict[str, Any]) -> int:
        """Which of the runs a request is about."""
        number = int(asked.get("run", 0))
        if not 0 <= number < len(self.server.benches):
            raise DiprlError(f"there is no run {number}")
        return number

    def _send(self, status: int, content: str | dict[str, Any]) -> None:
        body = (content if isinstance(content, str) else json.dumps(content)).encode()
        kind = "text/html; charset=utf-8" if isinstance(content, str) else "application/json"
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def open_studio(paths: Sequence[Path], task: str | None = None, spec: Path | None = None, port: int = 0) -> Studio:
    """A studio for some runs or program files; call `serve_forever` on it."""
    load_template()
    return Studio([Bench(path, task, spec) for path in paths], port)

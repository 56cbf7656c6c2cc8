"""Give every command files from a stranger: programs, run folders, specifications and links that lead elsewhere.

Each command runs in a process of its own, in a folder with a canary beside it. It passes if it ends by itself within
the time limit, says at most one sentence when it refuses, writes nothing outside of its folder and stays below a
gigabyte. Every page that a report wrote is opened in Chromium, where a script of the stranger's would leave a mark.
"""

import hashlib
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rows import record

from diprl.program import Program
from diprl.runs.spec import RunSpec

TIME_LIMIT, MEMORY_LIMIT = 120.0, 1 << 30
ATTACK = "document.documentElement.dataset.owned='yes'"
STRINGS = (
    f"<script>{ATTACK}</script>", f'"><img src=x onerror="{ATTACK}">', f"</script><script>{ATTACK}</script>",
    f"'><svg onload={ATTACK}>", "{{7*7}}", "\x1b[2J\x1b]0;owned\x07", "../../escaped", "/etc/hostname", "a" * 100_000,
    "\ud800", "os:Env-v0", "javascript:alert(1)", "\x00", "%n%n%s", "é" * 1000,
)  # fmt: skip
NUMBERS = (0, -1, 10**12, 10**400, 1e308, -0.0, 0.1, float("nan"), float("inf"), True, None, [], {}, [[]] * 50)
PROGRAM = "task: CartPole-v1\nfeatures: a, b, c, d\nactions: left, right\nif a + c > 0: right\nelse: left\n"
BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
LINKED = ("report.html", "config.json", "result.json", "metrics.csv", "metrics.jsonl", ".lock", "polished.json",
          "model", "program.json", "checkpoint-0", "edited.json", "export")  # fmt: skip


SHOWN = ("device", "command", "versions", "preset", "variant", "task", "findings", "assumptions")
"""Entries that a report shows and that may be any text."""


class Trial(NamedTuple):
    """A stranger's files are in place; this command meets them."""

    kind: str
    arguments: list[str]


def names(count: int, prefix: str = "x") -> str:
    return ", ".join(f"{prefix}{i}" for i in range(count))


def chain(conditions: int, text: str) -> str:
    return "".join(f"{'elif' if i else 'if'} {text}: n\n" for i in range(conditions)) + "else: y\n"


LARGE: dict[str, Callable[[int], str]] = {
    "many features and conditions": lambda n: f"features: {names(4 * n)}\nactions: n, y\n" + chain(4 * n, "x0>0"),
    "endless actuators": lambda n: "features: x\nprimitives: f\nactuators: " + "9999 in [-1,1]," * n * 5 + "\nf\n",
    "a name twice": lambda n: f"features: {names(10 * n)}, x5\nactions: n\nn\n",
    "long chain": lambda n: "features: x\nactions: n, y\n" + chain(6 * n, "x>0"),
    "wide chain": lambda n: f"features: {names(512)}\nactions: n, y\n" + chain(4 * n, "x1>0"),
    "outputs of features": lambda n: f"features: {names(n)}\noutputs: {names(n, 'u')}\n" + "u0 = x0\n" * n,
    "nested parentheses": lambda n: "features: x\nactions: n\nif " + "(" * 50 * n + "x > 0: n\nelse: n\n",
    "nested ifs": lambda n: "features: x\nactions: n\n" + "if x > 0: " * 9 * n + "n\n",
    "a long sum": lambda n: "features: x\nactions: n\nif " + "x+" * 30 * n + "x > 0: n\nelse: n\n",
    "a long product": lambda n: "features: x\nactions: n\nif x" + "*2" * 40 * n + " > 0: n\nelse: n\n",
    "colons": lambda n: "features: x\nactions: n\n" + ":" * 90 * n,
    "long number": lambda n: "features: x\nactions: n\nif x > " + "9" * 90 * n + ": n\nelse: n\n",
    "near names": lambda n: "features: " + ", ".join("x" * 60 + str(i) for i in range(n)) + "\nactions: n\nif xx>0:n\n",
    "nested JSON": lambda n: '{"schema":' + "[" * 100 * n,
    "wide JSON": lambda n: "{" + ",".join(f'"{i}":1' for i in range(30 * n)) + "}",
    "long key": lambda n: '{"' + "k" * 390 * n + '":1}',
}


def hostile(value: Any, dice: random.Random) -> Any:
    """The same document with something in it that has no business there."""
    if isinstance(value, dict) and value and dice.random() < 0.8:
        key = dice.choice(list(value))
        return value | {dice.choice((key, dice.choice(STRINGS))): hostile(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.7:
        place = dice.randrange(len(value))
        return [*value[:place], hostile(value[place], dice), *value[place + 1 :]]
    return dice.choice(STRINGS) if isinstance(value, str) or dice.random() < 0.4 else dice.choice(NUMBERS)


def run_folder(folder: Path, dice: random.Random) -> None:
    """A finished run of CartPole-v1 in which one or two files are hostile."""
    folder.mkdir()
    spec = RunSpec("CartPole-v1", seed=1, episodes=3)
    program = Program.from_text(PROGRAM)
    curve = {"steps": [1.0, 2.0], "eval/program": [1.0, 9.0]}
    score = {"mean": 9.0, "std": 1.0, "returns": [8.0, 9.0, 10.0], "environment": "reference"}
    result = spec.to_json() | {
        "program": str(program), "extracted_program": None, "score": score, "steps_by_purpose": {"training": 64},
        "gap": None, "depths": [], "polish": None, "stages": {}, "curve": curve, "versions": {"python": "3"},
        "device": "cpu", "command": "diprl train", "wall_seconds": 1.0,
    }  # fmt: skip
    documents = {
        "config.json": spec.to_json() | {"session": {"backend": "auto", "env_timeout": None}},
        "result.json": result,
        "verification.json": {"proved": True, "findings": [], "assumptions": []},
        "program.json": json.loads(program.to_json()),
    }
    spoilt = dice.sample(list(documents), dice.randint(1, 2))
    for name, document in documents.items():
        shown = {key: document[key] for key in SHOWN if key in document}
        subtle = document | {key: hostile(value, dice) for key, value in shown.items() if dice.random() < 0.5}
        content = subtle if dice.random() < 0.7 else hostile(document, dice) if name in spoilt else document
        (folder / name).write_text(json.dumps(content), encoding="utf-8", errors="surrogatepass")
    rows = [{"time/total_timesteps": i, "eval/program": 1.0, dice.choice(STRINGS): 1.0} for i in range(3)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def set_trap(place: Path, dice: random.Random) -> Trial:
    """Put a stranger's files into a folder and choose the command that meets them."""
    kind = dice.choice(("large", "large", "program", "folder", "folder", "folder", "links", "links", "special", "spec"))
    run, program = place / "run", place / "program.txt"
    if kind == "large":
        name = dice.choice(list(LARGE))
        program.write_text(LARGE[name](dice.choice((10, 1000, 10_000)))[: dice.choice((10**9, 4_000_000, 999_000))])
        return Trial(f"large: {name}", ["show", str(program)])
    if kind == "program":
        document = hostile(json.loads(Program.from_text(PROGRAM).to_json()), dice)
        program.write_text(json.dumps(document), encoding="utf-8", errors="surrogatepass")
        commands = (["show"], ["export", "--to", "python,svg,json,latex,st"], ["report", "--episodes", "1"])
        command, *options = dice.choice(commands)
        return Trial(kind, [command, str(program), *options])
    if kind == "spec":
        program.write_text(PROGRAM)
        entry = hostile({"kind": "never", "action": "left", "when": ["a > 0"], "within": {"a": [0, 1]}}, dice)
        spec = hostile({"timeout": 1, "properties": [entry]}, dice) if dice.random() < 0.5 else {"properties": [entry]}
        text = json.dumps(spec) if dice.random() < 0.8 else "a: &a [" + "*a," * 1000 + "]"
        (place / "spec.yaml").write_text(text, encoding="utf-8", errors="surrogatepass")
        return Trial(kind, ["verify", str(program), str(place / "spec.yaml")])
    run_folder(run, dice)
    report = ["report", str(run), "--episodes", "1", "--task", "CartPole-v1"]
    command = dice.choice((report, report, report, ["show", str(run)], ["train", "--resume", str(run)]))
    if kind in ("links", "special"):
        target = place.parent / "canary" / "victim"
        for name in dice.sample(LINKED, 4):
            (run / name).unlink(missing_ok=True)
            os.mkfifo(run / name) if kind == "special" else (run / name).symlink_to(target)
        text = str(run / "program.json")
        commands = (
            command,
            ["polish", str(run), "--seconds", "1", "--episodes", "1"],
            ["edit", str(run), "--with-text", text, "--episodes", "1"],
            ["export", str(run), "--out", str(run / "export")],
        )
        command = dice.choice(commands)
    return Trial(kind, command)


def run(arguments: list[str], place: Path) -> tuple[int, str]:
    """Exit code and complaint of a command."""
    command = [sys.executable, "-m", "diprl", *arguments]
    process = subprocess.Popen(
        command, cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        _, complaint = process.communicate(timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return -1, "took too long"
    return process.returncode, complaint.decode("utf-8", "replace")


def fingerprint(folder: Path) -> str:
    """Names, contents and times of all files of the canary."""
    parts = [f"{p.name} {p.stat().st_mtime_ns} {p.read_bytes()!r}" for p in sorted(folder.rglob("*")) if p.is_file()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def script_ran(page: Path, profile: Path) -> bool:
    """Whether a script of the stranger's left its mark in the page."""
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=500", "--dump-dom"]
    command = [BROWSER or "", *options, f"--user-data-dir={profile}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return 'data-owned="yes"' in done.stdout


def attack(count: int, seed: int) -> bool:
    kinds: Counter[str] = Counter()
    written = scripts = unclear = pages = 0
    with tempfile.TemporaryDirectory() as home:
        for number in range(count):
            dice, place = random.Random(f"{seed}:{number}"), Path(home) / str(number) / "work"
            canary = place.parent / "canary"
            place.mkdir(parents=True)
            canary.mkdir()
            (canary / "victim").write_text("mine")
            trial = set_trap(place, dice)
            before = fingerprint(canary)
            code, complaint = run(trial.arguments, place)
            kinds.update([trial.kind.partition(":")[0]])
            sentences = [line for line in complaint.splitlines() if line and "warning" not in line]
            clear = code in (0, 1, 2) and "Traceback" not in complaint and "\x1b" not in complaint
            clear &= len(sentences) <= 1 and len(complaint) < 5000
            if not clear:
                unclear += 1
                print(f"UNCLEAR {number} {trial} exit code {code}: {complaint[-1500:]}", flush=True)
            if fingerprint(canary) != before or {p.name for p in place.parent.iterdir()} != {"work", "canary"}:
                written += 1
                print(f"WRITTEN OUTSIDE {number} {trial}", flush=True)
            for page in place.rglob("*.html"):
                if BROWSER and page.is_file() and not page.is_symlink():
                    pages += 1
                    if script_ran(page, place / "profile"):
                        scripts += 1
                        print(f"SCRIPT {number} {trial}", flush=True)
            shutil.rmtree(place.parent, ignore_errors=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    note = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
    note += f"; {written} writes outside, {scripts} scripts run in {pages} pages opened in Chromium"
    record("files from a stranger", f"{count:,}", written + scripts, unclear, f"{note}; peak {peak / 1e6:.0f} MB")
    return not (written or scripts or unclear) and peak < MEMORY_LIMIT

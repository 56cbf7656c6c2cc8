"""Kill further phases of work with `kill -9`, then do the work again: members, polish, simplify, report, Ray.

A phase is lost if what it leaves after the kills differs from what it gives undisturbed, or if a file is half written.
`kill_and_resume.py` kills trainings; here are several members, the commands that follow a training, and a grid on Ray.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from rows import record

from diprl.program import Program

SMALL = "--num-envs 8 --num-steps 32 --minibatch-size 64 --episodes 3"
TRAIN = f"train CartPole-v1 {SMALL} --seed 3 --total-timesteps"
GRID = "reproduce discrete --quick --tasks CartPole-v1 --methods diprl --seeds 1,2 --out grid --executor ray"
VOLATILE = ("wall_seconds", "command", "versions", "device")


class Phase(NamedTuple):
    """What is killed, how it is begun, how it goes on, and what must be there at its end."""

    begin: str
    go_on: str
    outcome: Callable[[Path], Any]


def result(folder: Path) -> Any:
    """A finished run, less what differs from one time to the next."""
    content = json.loads((folder / "run" / "result.json").read_text())
    return {name: value for name, value in content.items() if name not in VOLATILE}


def scores(folder: Path) -> Any:
    """The records of a grid: each run once, with its score and program."""
    lines = [json.loads(line) for path in folder.rglob("records.jsonl") for line in path.read_text().splitlines()]
    return sorted((line["key"], line["program"], line["score"]["mean"]) for line in lines if "amends" not in line)


def program(name: str) -> Callable[[Path], Any]:
    """A whole program of the size that it should have; a search that time limits need not find the same numbers."""
    return lambda folder: Program.load(folder / "run" / name).coefficients


def page(folder: Path) -> Any:
    """A page is whole or not there; what it shows of the machine's speed differs, so only its end is compared."""
    return (folder / "run" / "report.html").read_text()[-20:]


PHASES = {
    "members": Phase(f"{TRAIN} 6000 --members 3 --raw --out run", "train --resume run", result),
    "polish": Phase(f"{TRAIN} 6000 --members 1 --polish-share 0.5 --out run", "train --resume run", result),
    "simplify": Phase("simplify run --episodes 3", "simplify run --episodes 3", program("simplified.json")),
    "report": Phase("report run --episodes 1", "report run --episodes 1", page),
    "Ray": Phase(GRID, GRID, scores),
}
NEEDS_RUN = ("simplify", "report")
DONE_BEFORE = "is there already"
"""What a command says that would overwrite a result."""
MOST_KILLS = 3
"""Of one piece of work, which is then left to end."""


def start(arguments: str, folder: Path) -> subprocess.Popen[bytes]:
    """A command in a process group of its own, so that all it started is killed with it."""
    log = (folder / "log").open("ab")
    command = [sys.executable, "-m", "diprl", *arguments.split()]
    return subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, start_new_session=True)


def prepared(name: str, place: Path, number: int) -> Path:
    folder = place / f"{name}-{number}"
    folder.mkdir()
    if name in NEEDS_RUN:
        shutil.copytree(place / "trained" / "run", folder / "run")
    return folder


def undisturbed(name: str, place: Path) -> tuple[Any, float]:
    """What a phase gives, and the seconds that it takes."""
    folder, began = prepared(name, place, 0), time.monotonic()
    if start(PHASES[name].begin, folder).wait() not in (0, 1):
        sys.exit(f"{name} failed undisturbed:\n{(folder / 'log').read_text()[-3000:]}")
    return PHASES[name].outcome(folder), time.monotonic() - began


def killed_and_finished(
    name: str, place: Path, number: int, seconds: float, dice: random.Random
) -> tuple[int, Any, float]:
    """How many kills a phase met, what it gave in the end, and how long its last attempt took."""
    phase, folder, kills = PHASES[name], prepared(name, place, number), 0
    while True:
        begun = (folder / "run" / "config.json").exists() or name in (*NEEDS_RUN, "Ray")
        process, began = start(phase.go_on if begun else phase.begin, folder), time.monotonic()
        try:
            code = process.wait(dice.uniform(0.2, 1.0) * seconds if kills < MOST_KILLS else None)
            break
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
    took = time.monotonic() - began
    said = (folder / "log").read_text(errors="replace")
    if DONE_BEFORE in said.splitlines()[-1]:
        code = 0  # killed after it had written what it should
    if code not in (0, 1) or "Traceback" in said:
        print(f"UNCLEAR {name}, exit code {code}: {said[-2000:]}", flush=True)
        return kills, None, took
    return kills, phase.outcome(folder), took


def attack(count: int, seed: int) -> bool:
    dice, kills = random.Random(seed), Counter[str]()
    lost = unclear = number = 0
    names = [name for name in PHASES if name != "Ray" or find_spec("ray")]
    with tempfile.TemporaryDirectory() as home:
        place = Path(home)
        (place / "trained").mkdir()
        if start(f"{TRAIN} 20000 --members 1 --raw --out run", place / "trained").wait() != 0:
            sys.exit((place / "trained" / "log").read_text())
        expected = {name: undisturbed(name, place) for name in names}
        while kills.total() < count:
            number += 1
            name = names[number % len(names)]
            wanted, seconds = expected[name]
            met, found, took = killed_and_finished(name, place, number, seconds, dice)
            kills[name] += met
            if not met:
                expected[name] = wanted, took  # less than the first time, which compiled
            unclear += found is None
            lost += found is not None and found != wanted
            if found is not None and found != wanted:
                print(f"LOST {name}: {str(found)[:1000]}\ninstead of {str(wanted)[:1000]}", flush=True)
            partial = list((place / f"{name}-{number}").rglob("*.partial"))
            shutil.rmtree(place / f"{name}-{number}", ignore_errors=True)
            print(f"{kills.total()} kills, {lost} lost, {unclear} unclear: {name}, {len(partial)} pieces", flush=True)
    note = ", ".join(f"{number} {name}" for name, number in sorted(kills.items()))
    record("kill −9 in every further phase", f"{kills.total()} kills", lost, unclear, note)
    return not lost and not unclear

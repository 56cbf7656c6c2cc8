"""Kill real training processes at random moments, let each go on, and compare with a run that nobody disturbed.

Every kill is followed by a comparison of all metrics so far and by `diprl train --resume`, which may be killed again.
At the end of each run the program, the model (parameters, optimiser, random keys), the metrics and the result
are compared bit for bit; only wall time and speed may differ.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rows import record

SMALL = [
    "--num-envs", "8", "--num-steps", "32", "--minibatch-size", "64", "--num-epochs", "2", "--hidden-size", "8",
    "--max-depth", "3", "--episodes", "5", "--device", "cpu",
]  # fmt: skip
SCENARIOS: dict[str, list[str]] = {
    "one member": ["CartPole-v1", *SMALL, "--total-timesteps", "12000", "--members", "1", "--polish-share", "0"],
    "members and polish": [
        "MountainCar-v0", *SMALL, "--total-timesteps", "24000", "--members", "3", "--polish-share", "0.4",
    ],
    "two phases": ["CartPole-v1", *SMALL, "--method", "pi-prl", "--total-timesteps", "12000"],
    "Gymnasium environments": [
        "CartPole-v1", *SMALL, "--env-kwargs", '{"sutton_barto_reward": false}', "--backend", "sync",
        "--total-timesteps", "6000", "--members", "1", "--polish-share", "0.2",
    ],
}  # fmt: skip
SEED = 7
KILLS_PER_RUN = 5
VOLATILE = {"wall_seconds", "time/fps"}
"""What two equal runs may differ in."""


def start(arguments: list[str], log: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "diprl", "train", *arguments]
    with open(log, "ab") as errors:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)


def begin(scenario: str, folder: Path) -> list[str]:
    """The arguments that begin a run, or go on with one that has got as far as writing its config."""
    if (folder / "config.json").exists():
        return ["--resume", str(folder)]
    return [*SCENARIOS[scenario], "--seed", str(SEED), "--out", str(folder)]


def content(folder: Path) -> dict[str, Any]:
    """Everything that a run must give again."""
    names = ("model", "program.json", "program.txt")
    found: dict[str, Any] = {name: (folder / name).read_bytes() for name in names}
    found["result"] = repeatable((folder / "result.json").read_text())
    found["metrics"] = [repeatable(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return found


def repeatable(text: str) -> dict[str, Any]:
    return {name: value for name, value in json.loads(text).items() if name not in VOLATILE}


def undisturbed(scenario: str, folder: Path) -> tuple[dict[str, Any], float]:
    """The reference and the seconds that it took."""
    began = time.monotonic()
    if start(begin(scenario, folder), folder.with_suffix(".log")).wait() != 0:
        sys.exit(f"{scenario} failed undisturbed:\n{folder.with_suffix('.log').read_text()}")
    return content(folder), time.monotonic() - began


def moment(folder: Path) -> str:
    """Where in its life a killed run was."""
    if not (folder / "config.json").exists():
        return "before its config"
    if (folder / "result.json").exists():
        return "after its result"
    rows = len((folder / "metrics.jsonl").read_text().splitlines()) if (folder / "metrics.jsonl").exists() else 0
    return "before its first checkpoint" if rows == 0 else "in training, polish or scoring"


def kill_somewhere(scenario: str, folder: Path, rows: int, seconds: float, dice: random.Random) -> bool:
    """Go on with a run and kill it at a random moment of its life; tells whether it was still alive then.

    Mostly the moment is a random row of the metrics and a random time after it, so that a busy machine does not matter.
    """
    process = start(begin(scenario, folder), folder.with_suffix(".log"))
    if dice.random() < 0.1:
        time.sleep(dice.uniform(0, seconds / 2))
    else:
        row = dice.randint(len(so_far(folder)), rows)
        while len(so_far(folder)) < row and process.poll() is None:
            time.sleep(0.002)
        time.sleep(dice.uniform(0, 2 * seconds / rows))
    process.kill()
    return process.wait() == -9


def so_far(folder: Path) -> list[dict[str, Any]]:
    """Complete rows of the metrics; the last line may be torn."""
    path = folder / "metrics.jsonl"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return [repeatable(line) for line in lines]


@dataclass
class Tally:
    """What happened to all runs together."""

    moments: Counter[str]
    lost: int = 0
    unclear: int = 0

    @property
    def kills(self) -> int:
        return sum(self.moments.values())


def chain(
    scenario: str, folder: Path, reference: tuple[dict[str, Any], float, float], dice: random.Random, tally: Tally
) -> None:
    """One run that is killed several times and at last left alone, with a comparison after each of these."""
    expected, seconds = reference
    for _ in range(KILLS_PER_RUN):
        if not kill_somewhere(scenario, folder, len(expected["metrics"]), seconds, dice):
            break
        tally.moments.update([moment(folder)])
        rows = so_far(folder)
        tally.lost += rows != expected["metrics"][: len(rows)]
    log = folder.with_suffix(".log")
    log.write_bytes(b"")
    code = start(begin(scenario, folder), log).wait()
    clear = code == 0 and "Traceback" not in log.read_text()
    same = code == 0 and content(folder) == expected
    if not (same and clear):
        print(f"DIFFERENT: {scenario}, exit code {code}\n{log.read_text()[-2000:]}")
    tally.lost += not same
    tally.unclear += not clear


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this long")
    options = parser.parse_args()
    dice, began, tally = random.Random(options.seed), time.monotonic(), Tally(Counter())
    runs = 0
    with tempfile.TemporaryDirectory() as place:
        os.environ.setdefault("DIPRL_CACHE", str(Path(place) / "cache"))
        references: dict[str, Any] = {}
        while tally.kills < options.kills and time.monotonic() - began < options.seconds:
            name = list(SCENARIOS)[runs % len(SCENARIOS)]
            if name not in references:
                references[name] = undisturbed(name, Path(place) / f"whole-{runs}")
            folder = Path(place) / f"run-{runs}"
            chain(name, folder, references[name], dice, tally)
            runs += 1
            shutil.rmtree(folder, ignore_errors=True)
            print(f"{runs} runs, {tally.kills} kills, {tally.lost} lost, {tally.unclear} unclear: {name}", flush=True)
    note = ", ".join(f"{count} {where}" for where, count in sorted(tally.moments.items()))
    what, note = ("kill −9 at a random moment, then resume", f"{note}; {runs} runs of {len(references)} kinds compared")
    record(what, f"{tally.kills} kills", tally.lost, tally.unclear, note)
    sys.exit(1 if tally.lost or tally.unclear else 0)


if __name__ == "__main__":
    main()

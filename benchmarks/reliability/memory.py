"""Watch the memory of a long training and of a grid of many runs; both must stay flat after their beginning."""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rows import record

FLAT = 0.10
"""Growth from the second quarter to the last, as a share, that still counts as flat."""


def resident(process: int | str = "self") -> float:
    """Resident memory of a process in MB."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def growth(samples: list[float]) -> tuple[float, float]:
    """Mean memory in the second and in the last quarter."""
    quarter = max(1, len(samples) // 4)
    return float(np.mean(samples[quarter : 2 * quarter])), float(np.mean(samples[-quarter:]))


def long_training(steps: int) -> list[float]:
    """Memory of one `diprl train` process over its life, twice a second."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "diprl", "train", "CartPole-v1", "--total-timesteps", str(steps),
                   "--members", "1", "--polish-share", "0", "--episodes", "5", "--out", f"{place}/run"]  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        samples = []
        while process.poll() is None:
            if (Path(place) / "run" / "metrics.jsonl").exists():
                samples.append(resident(process.pid))
            time.sleep(0.5)
        if process.returncode != 0:
            sys.exit("the training failed")
    return [sample for sample in samples if sample > 0]


def many_runs(count: int) -> list[float]:
    """Memory of this process after each run of a grid."""
    from diprl.experiment.executors import execute
    from diprl.experiment.grid import Grid, Run, work_through
    from diprl.train.settings import Config

    config = Config(
        total_timesteps=4096, num_envs=8, num_steps=64, minibatch_size=64, num_epochs=1, hidden_size=8, max_depth=3,
        members=1, polish_share=0.3,
    )  # fmt: skip
    runs = tuple(Run("CartPole-v1", "diprl", "default", config, seed, episodes=2) for seed in range(count))
    samples: list[float] = []

    def note(line: str) -> None:
        if line.startswith("finished"):
            samples.append(resident())

    with tempfile.TemporaryDirectory() as place:
        work_through(Grid(Path(place), runs), execute, note)
    return samples


def show(what: str, count: str, samples: list[float]) -> bool:
    before, after = growth(samples)
    print(f"{what}: " + " ".join(f"{samples[i]:.0f}" for i in np.linspace(0, len(samples) - 1, 20).astype(int)) + " MB")
    note = f"{before:.0f} MB in the second quarter, {after:.0f} MB in the last ({after / before - 1:+.1%})"
    record(what, count, "–", "–", note)
    return after <= (1 + FLAT) * before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=100)
    options = parser.parse_args()
    flat = True
    if options.steps:
        flat &= show("memory of a long training", f"{options.steps:,} steps", long_training(options.steps))
    if options.runs:
        flat &= show("memory of a grid in one process", f"{options.runs} runs", many_runs(options.runs))
    sys.exit(0 if flat else 1)


if __name__ == "__main__":
    main()

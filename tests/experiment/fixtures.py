"""Made-up runs and records, small enough to compute every figure by hand."""

import os
import signal
import time
from pathlib import Path
from typing import Any

from diprl.arena.score import Gap, Score
from diprl.experiment.grid import Record
from diprl.experiment.results import Results, results_of
from diprl.program import Program
from diprl.runs.result import Result
from diprl.runs.spec import RunSpec
from diprl.train.settings import Settings

SEEDS = (123, 321, 456)
PROGRAM = Program.from_text("features: x\nactions: no, yes\nif x > 1: yes\nelif x > 0: no\nelif x > -1: yes\nelse: no")
"""Of depth 4."""
TINY = Settings().with_values(
    total_timesteps=2048,
    num_envs=4,
    num_steps=64,
    minibatch_size=64,
    num_epochs=1,
    hidden_size=4,
    members=1,
    polish_share=0.0,
    max_depth=3,
)


def make_run(method: str = "diprl", task: str = "CartPole-v1", seed: int = 123, variant: str = "") -> RunSpec:
    fixed = variant.replace(".", "").isdigit()
    settings = {"alpha": float(variant)} if fixed else {"alpha_dual": 1e-4} if variant else {}
    return RunSpec(task, method, TINY.with_values(**settings), seed, episodes=2, variant=variant)


def make_record(run: RunSpec, mean: float, **fields: Any) -> Record:
    """A record with everything that tables and figures read."""
    return made_up(run, mean, **fields).to_json() | {"curve": curve(mean)}


def made_up(run: RunSpec, mean: float, **fields: Any) -> Result:
    gap = Gap(mean + 1.0, 0.5, 0.25, 0.25, 0.0, 0.0004, 0.0, mean + 0.9, mean + 0.5, 2.0, 0.0)
    parts: dict[str, Any] = {"gap": gap, "steps": {"training": 2048}, **fields}
    return Result(run, PROGRAM, Score((mean, mean)), **parts)


def curve(mean: float) -> dict[str, list[float]]:
    return {
        "steps": [512.0, 1024.0, 2048.0],
        "eval/program": [mean - 2, mean - 1, mean],
        "eval/relaxed": [mean - 1, mean, mean + 1],
        "train/architecture_entropy": [0.9, 0.5, 0.0],
    }


def staged(run: RunSpec, relaxed: float, extracted: float, tuned: float) -> Record:
    """A record of pi-PRL with its three stages."""
    stages = {"relaxed": {"mean": relaxed}, "extracted": {"mean": extracted}, "fine_tuned": {"mean": tuned}}
    gap = Gap(relaxed, 0.0, 0.0, relaxed - extracted, mass=0.5, entropy=0.75, bound=0.5)
    steps = {"relaxed_search": 1024, "fine_tuning": 1024}
    return make_record(run, tuned, stages=stages, gap=gap, steps=steps)


def example_results() -> Results:
    """DiPRL and pi-PRL on two tasks: one seed of DiPRL on Acrobot and all of pi-PRL on CartPole are missing."""
    diprl = {"CartPole-v1": (500.0, 500.0, 500.0), "Acrobot-v1": (-80.0, -70.0, None)}
    runs, records = [], {}
    for task, means in diprl.items():
        for seed, mean in zip(SEEDS, means, strict=True):
            run = make_run("diprl", task, seed)
            runs.append(run)
            if mean is not None:
                records[run.key] = make_record(run, mean)
            other = make_run("pi-prl", task, seed)
            runs.append(other)
            if task == "Acrobot-v1":
                records[other.key] = staged(other, -80.0, -100.0, -90.0 - seed / 100)
    return results_of(runs, records)


def step_by_step(run: RunSpec, folder: Path) -> Record:
    """Stands in for training: counts to twenty in a file, so that an interrupted count goes on where it was."""
    folder.mkdir(parents=True, exist_ok=True)
    tick(folder.parent / f"begun{run.seed}")
    count = folder / "count"
    while (done := len(count.read_text()) if count.exists() else 0) < 20:
        tick(count)
        die_at(f"{run.seed}:{done}")
    tick(folder.parent / f"finished{run.seed}")
    return make_record(run, float(run.seed)) | {"wall_seconds": time.monotonic()}


def repeatable(record: Record) -> Record:
    """What a repeated run gives again, to the last digit: everything but its wall time."""
    return {name: value for name, value in record.items() if name != "wall_seconds"}


def tick(path: Path) -> None:
    with open(path, "a") as file:
        file.write(".")


def die_at(moment: str) -> None:
    """Kill this process, as `kill -9` would, when the environment variable DIE_AT names the moment."""
    if os.environ.get("DIE_AT") == moment:
        os.kill(os.getpid(), signal.SIGKILL)

"""Made-up runs and records, small enough to compute every figure by hand."""

import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from diprl.experiment.grid import Run
from diprl.experiment.records import Record
from diprl.experiment.results import Results, results_of
from diprl.train.config import Config

SEEDS = (123, 321, 456)
TINY = Config(
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


def make_run(method: str = "diprl", task: str = "CartPole-v1", seed: int = 123, variant: str = "") -> Run:
    fixed = variant.replace(".", "").isdigit()
    settings = {"alpha": float(variant)} if fixed else {"alpha_dual": 1e-4} if variant else {}
    return Run(task, method, "default", replace(TINY, **settings), seed, variant, episodes=2)


def make_record(run: Run, mean: float, **fields: Any) -> Record:
    """A record with everything that tables and figures read."""
    steps = [512.0, 1024.0, 2048.0]
    return {
        "key": run.key,
        "task": run.task,
        "method": run.method,
        "seed": run.seed,
        "program": None,
        "depth": 4,
        "score": {"mean": mean, "std": 0.0, "returns": [mean, mean], "environment": "reference"},
        "relaxed_score": mean + 1.0,
        "gap": {"architecture": 0.5, "condition": 0.25, "terminal": 0.25, "total": 1.0},
        "architecture_entropy": 0.0004,
        "steps": 2048,
        "curve": {
            "steps": steps,
            "eval/program": [mean - 2, mean - 1, mean],
            "eval/relaxed": [mean - 1, mean, mean + 1],
            "train/architecture_entropy": [0.9, 0.5, 0.0],
        },
    } | fields


def staged(run: Run, relaxed: float, extracted: float, tuned: float) -> Record:
    """A record of pi-PRL with its three stages."""
    stages = {"relaxed": {"mean": relaxed}, "extracted": {"mean": extracted}, "fine_tuned": {"mean": tuned}}
    gap = {"architecture": 0.0, "condition": 0.0, "terminal": 0.0, "total": relaxed - extracted}
    return make_record(run, tuned, stages=stages, gap=gap, search_steps=1024, architecture_entropy=0.75)


def example_results() -> Results:
    """DiPRL and pi-PRL on two tasks: one seed of DiPRL on Acrobot and all of pi-PRL on CartPole are missing."""
    diprl = {
        "CartPole-v1": (500.0, 500.0, 500.0),
        "Acrobot-v1": (-80.0, -70.0, None),
    }
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


def step_by_step(run: Run, folder: Path) -> Record:
    """Stands in for training: counts to twenty in a file, so that an interrupted count goes on where it was."""
    folder.mkdir(parents=True, exist_ok=True)
    tick(folder.parent / f"begun{run.seed}")
    count = folder / "count"
    while (done := len(count.read_text()) if count.exists() else 0) < 20:
        tick(count)
        die_at(f"{run.seed}:{done}")
    tick(folder.parent / f"finished{run.seed}")
    return make_record(run, float(run.seed)) | {"wall_seconds": time.monotonic()}


def tick(path: Path) -> None:
    with open(path, "a") as file:
        file.write(".")


def die_at(moment: str) -> None:
    """Kill this process, as `kill -9` would, when the environment variable DIE_AT names the moment."""
    if os.environ.get("DIE_AT") == moment:
        os.kill(os.getpid(), signal.SIGKILL)

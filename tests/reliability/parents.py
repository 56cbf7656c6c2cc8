"""Processes that start workers and wait to be killed: python -m tests.reliability.parents KIND FOLDER."""

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from diprl.experiment.executors import local
from diprl.experiment.grid import Grid
from diprl.runs.spec import RunSpec
from diprl.tasks.registry import load_task
from diprl.tasks.workers import WorkerEnvironments
from tests.counters import Counter
from tests.experiment.fixtures import make_run


class Endless(Counter):
    """An environment whose first step never comes back; it leaves its process's number in a folder."""

    def __init__(self, folder: str, render_mode: str | None = None) -> None:
        super().__init__()
        self.folder = Path(folder)

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        work_for_ever(self.folder)
        return super().step(action)


def work_for_ever(folder: Path) -> None:
    (folder / f"{os.getpid()}.worker").touch()
    while True:
        time.sleep(0.01)


def endless_run(run: RunSpec, folder: Path) -> Any:
    work_for_ever(folder.parent.parent)


def environments(folder: Path) -> None:
    batch = WorkerEnvironments(load_task(partial(Endless, str(folder))), 2, workers=2)
    batch.reset(0)
    batch.step(np.zeros(2, int))


def grid(folder: Path) -> None:
    runs = tuple(make_run(seed=seed) for seed in (1, 2))
    local(Grid(folder, runs), print, workers=2, execute=endless_run)


if __name__ == "__main__":
    {"environments": environments, "grid": grid}[sys.argv[1]](Path(sys.argv[2]))

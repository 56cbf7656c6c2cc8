"""Programs on the reference environment, played by worker processes, one for each core."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from diprl.arena.reference import evaluate_many
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.system.processes import available_cores
from diprl.tasks.base import Task
from diprl.tasks.batches.worker import Service, Worker

WORTH_SHARING = 20_000
"""Steps after which workers are started: a few episodes are played sooner than a process begins."""


class SharedPlay:
    """Plays as `evaluate_many` does, with the same returns for the same seeds, whoever plays them."""

    def __init__(self, task: Task) -> None:
        self.task, self.steps = task, 0
        self.workers: list[Worker] = []
        self.alone = available_cores() == 1

    def __call__(self, programs: Sequence[Program], episodes: int, seed: int) -> tuple[NDArray[np.float64], int]:
        if self.steps >= WORTH_SHARING and not self.workers and not self.alone:
            self.start()
        if not self.workers:
            returns, steps = evaluate_many(self.task, programs, episodes, seed)
        else:
            returns, steps = self.share(programs, episodes, seed)
        self.steps += steps
        return returns, steps

    def start(self) -> None:
        """Start a worker for each core, unless the environment cannot be sent to one."""
        try:
            self.workers = [Worker(self.task.name, partial(_begin, self.task)) for _ in range(available_cores())]
            for worker in self.workers:
                worker.wait(None)
        except DiprlError:
            self.workers, self.alone = [], True

    def share(self, programs: Sequence[Program], episodes: int, seed: int) -> tuple[NDArray[np.float64], int]:
        """Each worker plays all programs on a part of the episodes."""
        count = min(len(self.workers), episodes)
        edges = [seed + episodes * part // count for part in range(count + 1)]
        players = self.workers[:count]
        for worker, (first, end) in zip(players, pairwise(edges), strict=True):
            worker.send((tuple(programs), end - first, first))
        answers = [worker.receive(None, "") for worker in players]
        return np.concatenate([returns for returns, _ in answers], axis=1), sum(steps for _, steps in answers)


def _begin(task: Task) -> Service:
    return Service(lambda message: evaluate_many(task, *message), lambda: None)

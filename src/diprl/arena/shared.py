"""Programs on the reference environment, played by worker processes, one for each core."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from diprl.arena.reference import evaluate_many
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.system.processes import available_cores
from diprl.tasks.base import Task
from diprl.tasks.batches.worker import Service, Worker

WORTH_SHARING = 5.0
"""Seconds of play after which workers are started: a process takes a second or two to begin."""


class SharedPlay:
    """Plays as `evaluate_many` does, with the same returns for the same seeds; workers share a long play."""

    def __init__(self, task: Task) -> None:
        self.task, self.seconds = task, 0.0
        self.workers: list[Worker] = []
        self.alone = available_cores() == 1

    def __call__(self, programs: Sequence[Program], episodes: int, seed: int) -> tuple[NDArray[np.float64], int]:
        if self.seconds >= WORTH_SHARING and not self.workers and not self.alone:
            self.start()
        play = self.share if self.workers else partial(evaluate_many, self.task)
        began = monotonic()
        played = play(programs, episodes, seed)
        self.seconds += monotonic() - began
        return played

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

"""A batch of reference environments shared out among worker processes, several environments to each."""

from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.system.processes import available_cores
from diprl.tasks.base import Step, Task
from diprl.tasks.batches.sync import SyncEnvironments, seeds
from diprl.tasks.batches.worker import MAKING, PATIENCE, Service, Worker
from diprl.tasks.misdeeds import INFO_KEYS


class WorkerEnvironments:
    """Steps exactly as `SyncEnvironments` does for the same seed, on as many cores as there are workers.

    What a step gives lies in memory that all processes share; messages only say that it is there. With `timeout`,
    environments that take more seconds for a step are given up.
    """

    def __init__(self, task: Task, num_envs: int, workers: int | None = None, timeout: float | None = None) -> None:
        count = max(1, min(workers or available_cores(), num_envs))
        self.num_envs = num_envs
        self._name, self._timeout, self._steps = task.name, timeout, 0
        edges = [num_envs * worker // count for worker in range(count + 1)]  # as even as possible
        self._slices = [slice(start, stop) for start, stop in pairwise(edges)]
        memory = get_context("spawn").RawArray("b", num_envs * _row(task).itemsize)
        self._rows = np.frombuffer(memory, _row(task))
        self._workers: list[Worker] = []
        try:
            for share in self._slices:
                self._workers.append(Worker(task.name, partial(_begin, task, share), memory))
            for worker, share in zip(self._workers, self._slices, strict=True):
                worker.wait(self._limit(share, MAKING))
        except BaseException:
            self.close()
            raise

    def reset(self, seed: int) -> NDArray[np.float32]:
        each = seeds(seed, self.num_envs)
        self._steps = 0
        return np.concatenate(self._exchange([each[share] for share in self._slices]))

    def step(self, actions: NDArray[Any]) -> Step:
        self._steps += 1
        self._exchange([actions[share] for share in self._slices])
        told = {key: self._rows[key].copy() for key in INFO_KEYS}
        return Step(*(self._rows[name].copy() for name in Step._fields[:5]), info=told)

    def close(self) -> None:
        until = monotonic() + PATIENCE
        for worker in self._workers:
            worker.close(max(0.0, until - monotonic()))

    def _exchange(self, messages: list[Any]) -> list[Any]:
        """Sends one message to each worker and waits for all answers; any failure ends all workers."""
        if not all(worker.alive for worker in self._workers):
            raise DiprlError(f"{self._name}: these environments are closed")
        try:
            for worker, message in zip(self._workers, messages, strict=True):
                worker.send(message)
            return [self._answer(*pair) for pair in zip(self._workers, self._slices, strict=True)]
        except BaseException:
            self.close()
            raise

    def _answer(self, worker: Worker, share: slice) -> Any:
        whose = f"environments {share.start} to {share.stop - 1}"
        died = f": the worker process of {whose} died in step {self._steps}"
        return worker.receive(self._limit(share), f" took more than {{:g}} seconds in step {self._steps}", died)

    def _limit(self, share: slice, more: float = 0.0) -> float | None:
        """A worker may take as long as all of its environments together, each with a reset."""
        return None if self._timeout is None else (2 * self._timeout + more) * (share.stop - share.start)


def _row(task: Task) -> np.dtype[Any]:
    """What one environment's step gives."""
    views = [(name, np.float32, task.layout.size) for name in ("view", "next_view")]
    numbers = [(name, np.float32) for name in ("reward", *INFO_KEYS)]
    return np.dtype([*views, *numbers, ("terminated", np.bool_), ("truncated", np.bool_)])


def _begin(task: Task, share: slice, memory: Any) -> Service:
    """Makes a worker's environments, which answer seeds with first views and put down what actions give."""
    environments = SyncEnvironments(task, share.stop - share.start, share.start)
    rows = np.frombuffer(memory, _row(task))[share]

    def answer(message: Any) -> Any:
        if isinstance(message, list):
            return environments.reset_each(message)
        step = environments.step(message)
        for name in rows.dtype.names or ():
            rows[name] = step.info[name] if name in INFO_KEYS else getattr(step, name)

    return Service(answer, environments.close)

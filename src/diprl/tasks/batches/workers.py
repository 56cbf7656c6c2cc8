"""A batch of reference environments shared out among worker processes, several environments to each."""

from functools import partial
from itertools import pairwise
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

    With `timeout`, environments that take more seconds for a step are given up.
    """

    def __init__(self, task: Task, num_envs: int, workers: int | None = None, timeout: float | None = None) -> None:
        count = max(1, min(workers or available_cores(), num_envs))
        self.num_envs = num_envs
        self._name, self._timeout, self._steps = task.name, timeout, 0
        edges = [num_envs * worker // count for worker in range(count + 1)]  # as even as possible
        self._slices = [slice(start, stop) for start, stop in pairwise(edges)]
        self._workers: list[Worker] = []
        try:
            for share in self._slices:
                self._workers.append(Worker(task.name, partial(_begin, task, share)))
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
        steps: list[Step] = self._exchange([actions[share] for share in self._slices])
        arrays = [np.concatenate(column) for column in zip(*(step[:5] for step in steps), strict=True)]
        info = {key: np.concatenate([step.info[key] for step in steps]) for key in INFO_KEYS}
        return Step(*arrays, info=info)

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


def _begin(task: Task, share: slice) -> Service:
    """Makes a worker's environments, which answer seeds with first views and actions with steps."""
    environments = SyncEnvironments(task, share.stop - share.start, share.start)

    def answer(message: Any) -> Any:
        return environments.reset_each(message) if isinstance(message, list) else environments.step(message)

    return Service(answer, environments.close)

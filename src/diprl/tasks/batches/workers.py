"""A batch of reference environments shared out among worker processes, several environments to each."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pickle import PicklingError
from time import monotonic
from typing import Any, cast
from weakref import finalize

import numpy as np
from gymnasium.vector.utils import CloudpickleWrapper
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.system.processes import available_cores, end_with_parent
from diprl.tasks.base import Step, Task
from diprl.tasks.batches.sync import INFO_KEYS, SyncEnvironments, seeds

PATIENCE = 1.0
"""Seconds that workers get to end by themselves before they are ended."""


class WorkerEnvironments:
    """Steps exactly as `SyncEnvironments` does for the same seed, on as many cores as there are workers.

    Workers start afresh, never by fork, which JAX's threads do not survive. With `timeout`, a batch whose
    step takes more seconds is given up.
    """

    def __init__(self, task: Task, num_envs: int, workers: int | None = None, timeout: float | None = None) -> None:
        count = max(1, min(workers or available_cores(), num_envs))
        self.num_envs = num_envs
        self._name, self._timeout, self._steps = task.name, timeout, 0
        self._slices = _shares(num_envs, count)
        self._connections: list[Connection] = []
        self._processes: list[Any] = []
        self._closing = finalize(self, _end, self._connections, self._processes)
        with _main_module_hidden():
            for share in self._slices:
                self._start(task, share)
        for worker in range(count):
            self._receive(worker, None)

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
        self._closing()

    def _start(self, task: Task, share: slice) -> None:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        arguments = (theirs, CloudpickleWrapper(cast(Any, task)), share.stop - share.start, share.start)
        process = context.Process(target=_serve, args=arguments, daemon=True)
        try:
            process.start()
        except (AttributeError, TypeError, PicklingError) as error:
            raise self._failed(f" cannot be sent to worker processes: {error}") from error
        theirs.close()
        self._connections.append(ours)
        self._processes.append(process)

    def _exchange(self, messages: list[Any]) -> list[Any]:
        """Sends one message to each worker and waits for all answers; any failure ends all workers."""
        if not self._closing.alive:
            raise DiprlError(f"{self._name}: these environments are closed")
        for worker, (connection, message) in enumerate(zip(self._connections, messages, strict=True)):
            try:
                connection.send(message)
            except OSError as error:
                raise self._dead(worker) from error
        return [self._receive(worker, self._timeout) for worker in range(len(messages))]

    def _receive(self, worker: int, timeout: float | None) -> Any:
        connection = self._connections[worker]
        try:
            if timeout is not None and not connection.poll(timeout):
                raise self._failed(f": step {self._steps} took more than {timeout:g} seconds")
            answer = connection.recv()
        except (EOFError, OSError) as error:
            raise self._dead(worker) from error
        if isinstance(answer, DiprlError):
            self.close()
            raise answer
        return answer

    def _dead(self, worker: int) -> DiprlError:
        share = self._slices[worker]
        whose = f"the worker process of environments {share.start} to {share.stop - 1}"
        return self._failed(f": {whose} died in step {self._steps}")

    def _failed(self, reason: str) -> DiprlError:
        """What to raise, after ending all workers."""
        self.close()
        return DiprlError(f"{self._name}{reason}")


def _shares(num_envs: int, workers: int) -> list[slice]:
    """Consecutive environments for each worker, as even as possible."""
    edges = [num_envs * worker // workers for worker in range(workers + 1)]
    return [slice(start, stop) for start, stop in pairwise(edges)]


def _serve(connection: Connection, packed: Any, num_envs: int, first: int) -> None:
    """A worker's life: make environments, then answer seeds with first views and actions with steps."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    environments = None
    try:
        environments = SyncEnvironments(packed.fn, num_envs, first)
        connection.send(None)
        while True:
            message = connection.recv()
            reset = isinstance(message, list)
            connection.send(environments.reset_each(message) if reset else environments.step(message))
    except DiprlError as error:
        connection.send(type(error)(str(error)))
    except (EOFError, OSError):
        pass
    except Exception as error:
        connection.send(DiprlError(f"{packed.fn.name} could not be made: {error!r}"))
    finally:
        if environments is not None:
            environments.close()


def _end(connections: list[Connection], processes: list[Any]) -> None:
    """Closes every pipe, which ends idle workers, and ends those that do not listen."""
    for connection in connections:
        with suppress(OSError):
            connection.close()
    deadline = monotonic() + PATIENCE
    for process in processes:
        process.join(max(0.0, deadline - monotonic()))
        if process.is_alive():
            process.kill()
            process.join()
        process.close()


@contextmanager
def _main_module_hidden() -> Iterator[None]:
    """Keeps workers from running the user's script again, so that a script needs no `__main__` guard."""
    main = sys.modules["__main__"]
    hidden = {key: main.__dict__[key] for key in ("__file__", "__spec__") if key in main.__dict__}
    main.__dict__.update(dict.fromkeys(hidden))
    try:
        yield
    finally:
        main.__dict__.update(hidden)

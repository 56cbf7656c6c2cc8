"""A limit on how long an environment may think, so that one that hangs ends a run with a sentence."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from multiprocessing import current_process
from threading import current_thread, main_thread
from typing import Any

import gymnasium as gym

from diprl.errors import DiprlError
from diprl.system.files import is_number
from diprl.tasks import misdeeds
from diprl.tasks.base import Task
from diprl.tasks.batches.worker import MAKING, Service, Worker

GRACE = 5.0
"""Seconds more that code gets which does not listen to Python, before its process is ended."""
UNUSABLE = "the environment cannot be used"


def load_limited(load: Callable[[], Task], seconds: Any = None) -> Task:
    """What `load` gives, guarded if there is a limit.

    The first environment, which shows what the task is, is made in this process; with a limit, that is tried in a
    process that can be ended first.
    """
    if seconds is None:
        return misdeeds.call(load, complaint=lambda: UNUSABLE)
    check_limit(seconds)
    trial = Worker("the environment", partial(_try, load))
    try:
        trial.wait(seconds + MAKING)
    finally:
        trial.close()
    with deadline(seconds + MAKING, f"the environment took more than {seconds + MAKING:g} seconds to be made"):
        return guarded(misdeeds.call(load, complaint=lambda: UNUSABLE), seconds)


def _try(load: Callable[[], Task]) -> Service:
    misdeeds.call(load, complaint=lambda: UNUSABLE)
    return Service(lambda message: None, lambda: None)


def guarded(task: Task, seconds: Any) -> Task:
    """The same task with environments that are given up when making one, a step, a reset or closing takes longer.

    They live in another process, which can be ended whatever they do.
    """
    check_limit(seconds)
    return replace(task, reference=Remote(task.reference, task.name, seconds))


def check_limit(seconds: Any) -> None:
    if not is_number(seconds) or not 0.0 < seconds < float("inf"):
        raise DiprlError(f"env_timeout must be a positive number of seconds, not {seconds!r:.40}")


@dataclass(frozen=True)
class Remote:
    """Makes environments that live in another process, all of them in the same one."""

    make: Callable[..., gym.Env[Any, Any]]
    name: str
    seconds: float
    keepers: list[Worker] = field(default_factory=list, compare=False)
    """The process that keeps the environments, once it is needed."""
    numbers: Iterator[int] = field(default_factory=count, compare=False)

    def __call__(self, **overrides: Any) -> gym.Env[Any, Any]:
        if current_process().daemon:  # a worker, which can be ended and cannot have workers itself
            with deadline(self.seconds + MAKING, f"{self.name} took too long to be made"):
                return Guarded(self.make(**overrides), self.name, self.seconds)
        if not self.keepers or not self.keepers[0].alive:
            self.keepers[:] = [Worker(self.name, partial(_keep, self))]
            self.keepers[0].wait(None)
        return RemoteEnvironment(self, next(self.numbers), overrides)

    def ask(self, *message: Any) -> Any:
        """The keeper's answer; one that fails ends it."""
        try:
            self.keepers[0].send(message)
            limit = self.seconds + (MAKING if message[0] == "make" else 0.0) + GRACE
            return self.keepers[0].receive(limit, f"took too long to {message[0]}")
        except BaseException:
            self.keepers[0].close()
            raise

    def __reduce__(self) -> Any:
        return Remote, (self.make, self.name, self.seconds)


class RemoteEnvironment(gym.Env[Any, Any]):
    """An environment that another process keeps."""

    def __init__(self, home: Remote, number: int, overrides: dict[str, Any]) -> None:
        self.home, self.number = home, number
        self.observation_space, self.action_space = home.ask("make", number, overrides)

    def step(self, action: Any) -> Any:
        return self.home.ask("step", self.number, action)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return self.home.ask("reset", self.number, seed), {}

    def close(self) -> None:
        if self.home.keepers[0].alive:
            self.home.ask("close", self.number, None)


def _keep(home: Remote) -> Service:
    """The life of the process that keeps environments, by number."""
    kept: dict[int, Any] = {}

    def make(number: int, overrides: dict[str, Any]) -> Any:
        kept[number] = home(**overrides)
        return kept[number].observation_space, kept[number].action_space

    verbs: dict[str, Callable[[int, Any], Any]] = {
        "make": make,
        "step": lambda number, action: misdeeds.step(kept[number], action),
        "reset": lambda number, seed: kept[number].reset(seed=seed)[0],
        "close": lambda number, _: misdeeds.close(kept.pop(number), home.name),
    }

    def answer(message: Any) -> Any:
        verb, number, argument = message
        doing = {"step": "failed in a step", "reset": "failed to reset"}.get(verb, f"failed to {verb}")
        return misdeeds.call(verbs[verb], number, argument, complaint=lambda: f"{home.name} {doing}")

    def close() -> None:
        for environment in kept.values():
            misdeeds.close(environment, home.name)

    return Service(answer, close)


class Guarded(gym.Wrapper[Any, Any, Any, Any]):
    """An environment whose steps, resets and end have a deadline."""

    def __init__(self, environment: gym.Env[Any, Any], name: str, seconds: float) -> None:
        super().__init__(environment)
        self.name, self.seconds = name, seconds

    def step(self, action: Any) -> Any:
        with self.limited("a step"):
            return self.env.step(action)

    def reset(self, **options: Any) -> Any:
        with self.limited("a reset"):
            return self.env.reset(**options)

    def close(self) -> None:
        with self.limited("closing"):
            self.env.close()

    def limited(self, what: str) -> Any:
        return deadline(self.seconds, f"{self.name}: {what} took more than {self.seconds:g} seconds")


@contextmanager
def deadline(seconds: float, complaint: str) -> Iterator[None]:
    """Raise in the midst of whatever Python does when the time is up.

    Only a process's main thread can be interrupted so; elsewhere there is no limit. Code that never returns to Python
    is beyond reach too, which is why environments with a limit live in processes that can be ended.
    """
    if current_thread() is not main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def give_up(number: int, frame: Any) -> None:
        raise DiprlError(complaint)

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)

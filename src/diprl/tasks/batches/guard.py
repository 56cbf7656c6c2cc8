"""A limit on how long an environment may think, so that one that hangs ends a run with a sentence."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from multiprocessing import current_process
from typing import Any

import gymnasium as gym

from diprl.errors import DiprlError
from diprl.system.files import is_number
from diprl.tasks import misdeeds
from diprl.tasks.base import Task
from diprl.tasks.batches.worker import MAKING, Service, Worker

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
            return self.make(**overrides)
        if not self.keepers or not self.keepers[0].alive:
            self.keepers[:] = [Worker(self.name, partial(_keep, self))]
            self.keepers[0].wait(None)
        return RemoteEnvironment(self, next(self.numbers), overrides)

    def ask(self, *message: Any) -> Any:
        """The keeper's answer; one that fails ends it."""
        try:
            self.keepers[0].send(message)
            limit = self.seconds + (MAKING if message[0] == "make" else 0.0)
            return self.keepers[0].receive(limit, f": a {message[0]} took more than {{:g}} seconds")
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
    kept: dict[int, misdeeds.Checked] = {}

    def answer(message: Any) -> Any:
        verb, number, argument = message
        if verb == "make":
            kept[number] = misdeeds.Checked(home(**argument), home.name)
            return kept[number].environment.observation_space, kept[number].environment.action_space
        if verb == "close":
            return kept.pop(number).close()
        return kept[number].step(argument) if verb == "step" else kept[number].reset(argument)

    def close() -> None:
        for environment in kept.values():
            environment.close()

    return Service(answer, close)

"""A limit on how long an environment may think, so that one that hangs ends a run with a sentence."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import current_thread, main_thread
from typing import Any

import gymnasium as gym

from diprl.errors import DiprlError
from diprl.tasks.base import Task


def guarded(task: Task, seconds: float) -> Task:
    """The same task with environments that are given up when a step or a reset takes longer."""
    if not 0.0 < seconds < float("inf"):
        raise DiprlError(f"env_timeout must be a positive number of seconds, not {seconds}")
    return replace(task, reference=partial(_reference, task, seconds))


def _reference(task: Task, seconds: float, **overrides: Any) -> gym.Env[Any, Any]:
    return Guarded(task.reference(**overrides), task.name, seconds)


class Guarded(gym.Wrapper[Any, Any, Any, Any]):
    """An environment whose steps and resets have a deadline."""

    def __init__(self, environment: gym.Env[Any, Any], name: str, seconds: float) -> None:
        super().__init__(environment)
        self.name, self.seconds = name, seconds

    def step(self, action: Any) -> Any:
        with deadline(self.seconds, f"{self.name}: a step took more than {self.seconds:g} seconds"):
            return self.env.step(action)

    def reset(self, **options: Any) -> Any:
        with deadline(self.seconds, f"{self.name}: a reset took more than {self.seconds:g} seconds"):
            return self.env.reset(**options)


@contextmanager
def deadline(seconds: float, complaint: str) -> Iterator[None]:
    """Raise in the midst of whatever Python does when the time is up.

    Only a process's main thread can be interrupted so; elsewhere there is no limit. Code that never returns to Python
    is beyond reach too, which is why training with a limit steps its environments in processes that can be ended.
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

"""What environments do wrong, as one sentence each: somebody else's code may raise, exit or answer with anything."""

import os
import sys
from collections.abc import Callable
from math import isfinite
from typing import Any, NoReturn

import numpy as np

from diprl.errors import DiprlError, NotFiniteError
from diprl.system.processes import leave

INFO_KEYS = ("distance", "is_success")
"""The numbers an environment may report beside its reward."""
LONGEST_REASON = 300


def call(function: Callable[..., Any], *arguments: Any, complaint: Callable[[], str]) -> Any:
    """What a function of an environment returns; whatever it raises, and an exit, becomes one sentence."""
    os._exit = _refuse_exit
    try:
        return function(*arguments)
    except (DiprlError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise DiprlError(f"{complaint()}: {in_words(error)}") from error
    finally:
        os._exit = leave


def _refuse_exit(status: int) -> NoReturn:
    """Stands in for the exit that would end this process without a word."""
    raise SystemExit(status)


def in_words(error: BaseException) -> str:
    """An error on one line, even where it cannot describe itself."""
    kind = type(error).__name__
    try:
        said = " ".join(str(error).split())[:LONGEST_REASON]
    except BaseException:
        said = "an error that cannot be printed"
    return f"{kind}: {said}" if said else kind


def close(environment: Any, name: str) -> None:
    """Close an environment; what goes wrong then is told, but costs no result."""
    try:
        call(environment.close, complaint=lambda: f"{name} failed to close")
    except DiprlError as error:
        print(f"diprl: warning: {error}", file=sys.stderr, flush=True)


class Checked:
    """An environment whose every answer is checked; `place` says in complaints which one it is."""

    def __init__(self, environment: Any, name: str, place: Callable[[], str] | None = None) -> None:
        self.environment, self.name, self.place = environment, name, place or (lambda: name)
        self.shape: tuple[int, ...] = environment.observation_space.shape or ()

    def reset(self, seed: int | None = None) -> Any:
        return call(self._reset, seed, complaint=lambda: f"{self.place()} failed to reset")

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, float]]:
        """What a step gave, each part as what it should be."""
        return call(self._step, action, complaint=lambda: f"{self.place()} failed in a step")

    def close(self) -> None:
        close(self.environment, self.name)

    def _reset(self, seed: int | None) -> Any:
        observation, _ = self.environment.reset(seed=seed)
        return self._observed(observation)

    def _step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, float]]:
        observation, reward, terminated, truncated, info = self.environment.step(action)
        if not isfinite(reward := float(reward)):
            raise NotFiniteError(f"{self.place()} returned the reward {reward}")
        return self._observed(observation), reward, bool(terminated), bool(truncated), reported(info)

    def _observed(self, observation: Any) -> Any:
        if (shape := np.shape(observation)) != self.shape:
            raise DiprlError(f"{self.place()} returned an observation of shape {shape} instead of {self.shape}")
        return observation


def reported(info: Any) -> dict[str, float]:
    """The numbers that an environment reports; what is no finite number was not meant for us."""
    found = {}
    for key in INFO_KEYS:
        try:
            value = float(info[key])
        except (KeyError, IndexError, TypeError, ValueError):
            continue
        found |= {key: value} if isfinite(value) else {}
    return found

"""A MuJoCo environment as data: pure functions over batches of states.

The Gymnasium environment (one state) and the batched backend (many) both run the same description, so one
place says what is observed and what is rewarded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError, NotFiniteError
from diprl.tasks.mujoco.engine import INTERVAL, MjModel

Array = NDArray[np.float64]


class Start(NamedTuple):
    """Where n episodes begin."""

    qpos: Array
    qvel: Array
    goal: Array
    """One row per episode; no columns for a task whose goal never moves."""


class States(NamedTuple):
    """n states of the simulator."""

    qpos: Array
    qvel: Array
    places: Array
    """Origins of the tracked bodies (n, bodies, 3); after a step they lag qpos by one sub-step (0.01 s)."""
    goal: Array

    def velocity_since(self, before: "States", coordinate: int) -> Array:
        """Average speed over a step along one coordinate of qpos."""
        return (self.qpos[:, coordinate] - before.qpos[:, coordinate]) / INTERVAL

    def replace_rows(self, rows: NDArray[Any], other: "States") -> "States":
        """These states with the given rows taken, in order, from others."""
        merged = [part.copy() for part in self]
        for part, replacement in zip(merged, other, strict=True):
            part[rows] = replacement
        return States(*merged)


class Judgement(NamedTuple):
    """What n steps earned."""

    reward: Array
    terminated: NDArray[np.bool_]
    info: dict[str, NDArray[Any]]

    @staticmethod
    def sum(parts: dict[str, Array], terminated: NDArray[np.bool_] | None = None, **facts: NDArray[Any]) -> "Judgement":
        """A reward that is the sum of named parts, ended by the horizon only unless `terminated` says when.

        `info` carries the facts and each reward_<part>.
        """
        reward = np.sum([*parts.values()], axis=0)
        named = {f"reward_{part}": value for part, value in parts.items()}
        ended = np.zeros(len(reward), np.bool_) if terminated is None else terminated
        return Judgement(reward, ended, {**facts, **named})


Starts = Callable[[np.random.Generator, int], Start]
"""Draws the beginnings of that many episodes."""
JudgeStep = Callable[..., Judgement]
"""(states before, clipped actions, states after) -> judgement."""


@dataclass(frozen=True)
class Description:
    """Everything that distinguishes one environment from another."""

    name: str
    model: Callable[[], MjModel]
    start: Starts
    observe: Callable[[States], Array]
    judge: JudgeStep
    observation_size: int
    action_size: int
    horizon: int
    action_limit: float = 1.0
    """Actions are clipped to plus or minus this."""
    anneals: bool = False
    """Whether `judge` also takes `progress`, the fraction of training that has passed, and asks for more and more."""

    @property
    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Lowest and highest command of each motor."""
        return (-self.action_limit,) * self.action_size, (self.action_limit,) * self.action_size

    def clip(self, actions: NDArray[Any], count: int) -> Array:
        """That many actions as the motors carry them out; numbers that are not finite would spoil the simulation."""
        if np.shape(actions) != (count, self.action_size):
            shapes = f"{np.shape(actions)} instead of {(count, self.action_size)}"
            raise DiprlError(f"{self.name} was given actions of shape {shapes}")
        if not np.isfinite(actions).all():
            raise NotFiniteError(f"{self.name} was given an action that is not a finite number")
        return np.clip(np.asarray(actions, np.float64), -self.action_limit, self.action_limit)


def squared_norm(actions: Array) -> Array:
    return np.sum(actions**2, axis=1)


def shaken(qpos: Array, velocities: int, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Positions shaken by up to 0.1 and velocities of standard deviation 0.1, in every coordinate."""
    positions = qpos + rng.uniform(-0.1, 0.1, (count, len(qpos)))
    return positions, 0.1 * rng.standard_normal((count, velocities))

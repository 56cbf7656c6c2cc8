"""How good candidate programs are: many at a time, on the same episodes, with every environment step counted."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from numpy.typing import NDArray

from diprl.improve.compiled import candidate_returns, shape_of
from diprl.improve.numbers import Moments, Point, from_point
from diprl.program import Program
from diprl.program.signature import Discrete
from diprl.tasks.base import Task
from diprl.train.evaluate import evaluate_many

FITNESS_SEED = 2_000_000
"""Episodes that search looks at; scores are reported on others."""


class Returns(NamedTuple):
    """Returns (candidates, episodes) and the environment steps they took."""

    values: NDArray[np.float64]
    steps: int


class Fitness(Protocol):
    """Plays episodes with every candidate; the same round gives all candidates the same starts."""

    def __call__(self, points: Sequence[Point], episodes: int, round_number: int) -> Returns: ...


class TwinFitness:
    """All candidates and episodes in one compiled call."""

    def __init__(self, task: Task, program: Program, moments: Moments) -> None:
        self.moments, self.twin = moments, task.twin() if task.twin else None
        if self.twin is None:
            raise ValueError(f"{task.name} has no twin")
        self.returns = jax.jit(partial(candidate_returns, self.twin, shape_of(program)), static_argnums=2)

    def __call__(self, points: Sequence[Point], episodes: int, round_number: int) -> Returns:
        rows = np.stack([point.numbers for point in points]).reshape(len(points), -1, len(self.moments.mean) + 1)
        actions = jnp.asarray(np.stack([point.actions for point in points]), jnp.int32)
        weights = rows[..., :-1] / self.moments.scale
        bias = rows[..., -1:] - weights @ self.moments.mean[:, None]
        raw = jnp.asarray(np.concatenate([weights, bias], axis=-1), jnp.float32)
        values, steps = self.returns(raw, actions, episodes, key=jr.key(FITNESS_SEED + round_number))
        return Returns(np.asarray(values, np.float64), int(steps))


class ReferenceFitness:
    """The reference environment, all candidates and episodes in lockstep."""

    def __init__(self, task: Task, program: Program, moments: Moments) -> None:
        self.task, self.program, self.moments = task, program, moments

    def __call__(self, points: Sequence[Point], episodes: int, round_number: int) -> Returns:
        programs = [from_point(self.program, point, self.moments) for point in points]
        return Returns(*evaluate_many(self.task, programs, episodes, FITNESS_SEED + 1000 * round_number))


def make_fitness(task: Task, program: Program, moments: Moments) -> Fitness:
    """Compiled where the task has a twin."""
    if task.twin is not None and isinstance(program.signature.actions, Discrete):
        return TwinFitness(task, program, moments)
    return ReferenceFitness(task, program, moments)

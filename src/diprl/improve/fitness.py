"""How good programs are: many at a time, on the same episodes, with every environment step counted."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from diprl.improve.compiled import Packed, lane_returns, pack
from diprl.program import Program
from diprl.program.signature import Discrete
from diprl.tasks.base import Task, Twin
from diprl.train.evaluate import evaluate_many

FITNESS_SEED = 2_000_000
"""First seed of the episodes that searches look at; scores are reported on others."""
LANES = (256, 2048, 8192)
"""Sizes of a compiled batch; the smallest that holds all episodes is used."""


class Returns(NamedTuple):
    """Returns (programs, episodes) and the environment steps they took."""

    values: NDArray[np.float64]
    steps: int


class Fitness(Protocol):
    """Plays episodes with every program; the same round gives all of them the same starts."""

    def __call__(self, programs: Sequence[Program], episodes: int, round_number: int) -> Returns: ...


class TwinFitness:
    """Programs up to a size on a twin: every episode is a lane of a compiled batch."""

    def __init__(self, twin: Twin, conditions: int) -> None:
        self.twin, self.conditions = twin, conditions
        self.play = jax.jit(partial(lane_returns, twin))

    def __call__(self, programs: Sequence[Program], episodes: int, round_number: int) -> Returns:
        generator = np.random.default_rng([FITNESS_SEED, round_number])
        starts = generator.random((episodes, self.twin.reset_size), dtype=np.float32)
        packed = Packed(*map(np.stack, zip(*(pack(p, self.conditions) for p in programs), strict=True)))
        total = len(programs) * episodes
        block = next((size for size in LANES if total <= size), LANES[-1])
        values, steps = np.zeros(total), 0
        for first in range(0, total, block):
            lanes = np.arange(first, min(first + block, total))
            returns, lengths = self.play_block(packed, starts, lanes, block)
            values[lanes], steps = returns, steps + lengths
        return Returns(values.reshape(len(programs), episodes), steps)

    def play_block(
        self, packed: Packed, starts: NDArray[np.float32], lanes: NDArray[np.int64], block: int
    ) -> tuple[NDArray[np.float64], int]:
        """One compiled call; a batch that is not full repeats its first lane."""
        filled = np.concatenate([lanes, np.full(block - len(lanes), lanes[0])])
        owner, episode = np.divmod(filled, len(starts))
        chosen = Packed(*(field[owner] for field in packed))
        returns, lengths = self.play(chosen, jnp.asarray(starts[episode]))
        count = len(lanes)
        return np.asarray(returns, np.float64)[:count], int(np.asarray(lengths)[:count].sum())


class ReferenceFitness:
    """The reference environment, all programs and episodes in lockstep."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def __call__(self, programs: Sequence[Program], episodes: int, round_number: int) -> Returns:
        return Returns(*evaluate_many(self.task, programs, episodes, FITNESS_SEED + 10_000 * round_number))


def make_fitness(task: Task, program: Program) -> Fitness:
    """For programs no larger than this one: compiled where the task has a twin."""
    if task.twin is not None and isinstance(program.signature.actions, Discrete):
        return TwinFitness(task.twin(), program.conditions)
    return ReferenceFitness(task)

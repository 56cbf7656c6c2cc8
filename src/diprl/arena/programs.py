"""Many programs on the same episodes, with every environment step counted.

On a twin, programs are arrays, so that one compilation plays any program up to a size, thousands of episodes at a time.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import NDArray

from diprl.arena.episodes import ROUND_LENGTH, ROUNDS_SEED
from diprl.arena.twin import Lanes, advance, begin_lanes, play_until
from diprl.program import Program
from diprl.program.packed import Packed, packed_together
from diprl.program.signature import Discrete
from diprl.system.processes import available_cores
from diprl.tasks.base import Task, Twin


def act(packed: Packed, view: Float[Array, " features"]) -> Array:
    holds = jnp.where(packed.weights[:, :-1] @ view + packed.weights[:, -1] > 0, 1.0, -1.0)
    reached = packed.paths @ holds == packed.lengths
    return jnp.sum(jnp.where(reached, packed.leaves, 0)).astype(jnp.int32)


def acting(twin: Twin, packed: Packed) -> Callable[[Any, Array], Array]:
    """The actions of a program for each lane."""
    return lambda states, _: jax.vmap(act)(packed, jax.vmap(twin.observe)(states))


def watch_lanes(twin: Twin, packed: Packed, lanes: Lanes) -> tuple[Array, Array]:
    """The views of every step of these episodes, and whether they were alive then."""

    def watched(lanes: Lanes, _: None) -> tuple[Lanes, tuple[Array, Array]]:
        return advance(twin, acting(twin, packed), lanes), (jax.vmap(twin.observe)(lanes.states), lanes.alive)

    return jax.lax.scan(watched, lanes, length=twin.horizon)[1]


LANES = (64, 512)
"""Sizes of a compiled batch: small enough to stay in a core's cache."""


class ProgramReturns(NamedTuple):
    """Returns (programs, episodes) and the environment steps they took."""

    values: NDArray[np.float64]
    steps: int


ProgramPlayer = Callable[[Sequence[Program], int, int], ProgramReturns]
"""Plays so many episodes with every program; the same round, named last, gives all of them the same starts."""


class TwinPlayer:
    """Programs up to a size on a twin: every episode is a lane of a compiled batch."""

    def __init__(self, twin: Twin, conditions: int) -> None:
        self.twin, self.conditions = twin, conditions
        self.begin = jax.jit(lambda starts, alive: begin_lanes(jax.vmap(twin.reset)(starts), alive))
        self.play = jax.jit(lambda packed, lanes, few: play_until(twin, acting(twin, packed), lanes, few))
        self.watch = jax.jit(partial(watch_lanes, twin))

    def __call__(self, programs: Sequence[Program], episodes: int, round_number: int) -> ProgramReturns:
        starts = self.starts(episodes, round_number)
        packed = self.packed(programs)
        owner, episode = np.divmod(np.arange(len(programs) * episodes), episodes)

        def play(lanes: slice) -> tuple[NDArray[np.float64], int]:
            return self.play_block(take(packed, owner[lanes]), starts[episode[lanes]])

        blocks = [slice(first, first + LANES[-1]) for first in range(0, len(owner), LANES[-1])]
        with ThreadPoolExecutor(available_cores()) as threads:  # compiled code runs beside other threads
            values, steps = zip(*threads.map(play, blocks), strict=True)
        return ProgramReturns(np.concatenate(values).reshape(len(programs), episodes), sum(steps))

    def views(self, program: Program, episodes: int, round_number: int) -> NDArray[np.float32]:
        """Every view that a program acts on in so many episodes."""
        packed = self.packed([program])
        lanes = self.begin(self.starts(episodes, round_number), np.ones(episodes, bool))
        views, alive = jax.device_get(self.watch(take(packed, np.zeros(episodes, np.int64)), lanes))
        return views[alive]

    def packed(self, programs: Sequence[Program]) -> Packed:
        packed = packed_together(programs, self.conditions)
        return packed._replace(weights=packed.weights.astype(np.float32))

    def starts(self, episodes: int, round_number: int) -> NDArray[np.float32]:
        generator = np.random.default_rng([ROUNDS_SEED, round_number])
        return generator.random((episodes, self.twin.reset_size), dtype=np.float32)

    def play_block(self, packed: Packed, starts: NDArray[np.float32]) -> tuple[NDArray[np.float64], int]:
        """Returns of one episode per lane, and all their steps.

        Episodes differ in length: when so many have ended that the rest fit a smaller block, they move there.
        """
        returns, lengths = np.zeros(len(starts)), np.zeros(len(starts), np.int64)
        left = np.arange(len(starts))
        block, few = block_for(len(left))
        rows = np.resize(left, block)  # repeated up to the size of the block
        packed = take(packed, rows)
        lanes = self.begin(starts[rows], np.arange(block) < len(left))
        while True:
            lanes = jax.device_get(self.play(packed, lanes, few))
            returns[left], lengths[left] = lanes.total[: len(left)], lanes.length[: len(left)]
            alive = np.flatnonzero(lanes.alive)
            if not len(alive) or lanes.step >= self.twin.horizon:
                return returns, int(lengths.sum())
            left = left[alive]
            block, few = block_for(len(left))
            packed, lanes = take((packed, lanes), np.resize(alive, block))
            lanes = lanes._replace(alive=np.arange(block) < len(left))


def block_for(count: int) -> tuple[int, int]:
    """The smallest block that holds so many lanes, and how many the next smaller one holds."""
    place = next(place for place, size in enumerate(LANES) if count <= size)
    return LANES[place], LANES[place - 1] if place else 0


def take(tree: Any, rows: NDArray[np.int64]) -> Any:
    """The same rows of every array in a tree; single numbers stay as they are."""
    return jax.tree.map(lambda part: part[rows] if np.ndim(part) else part, tree)


def reference_player(task: Task) -> ProgramPlayer:
    """The reference environment, all programs and episodes in lockstep on as many cores as there are."""
    from diprl.arena.shared import SharedPlay  # needs Gymnasium, which twins do without

    play = SharedPlay(task)

    def play_round(programs: Sequence[Program], episodes: int, round_number: int) -> ProgramReturns:
        return ProgramReturns(*play(programs, episodes, ROUNDS_SEED + ROUND_LENGTH * round_number))

    return play_round


def program_player(task: Task, program: Program) -> ProgramPlayer:
    """For programs no larger than this one: compiled where the task has a twin."""
    if task.twin is not None and isinstance(program.signature.actions, Discrete):
        return twin_player(task, program.conditions)
    return reference_player(task)


@lru_cache(maxsize=8)
def twin_player(task: Task, conditions: int) -> TwinPlayer:
    """One player, and so one compilation, for all searches among programs of a size."""
    assert task.twin is not None  # others play on the reference
    return TwinPlayer(task.twin(), conditions)

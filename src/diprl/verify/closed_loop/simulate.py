"""Simulates the closed loop from many starts, to find one that goes wrong and to learn how far states range."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.program.signature import Discrete
from diprl.verify.closed_loop.claim import Claim
from diprl.verify.closed_loop.loop import Loop
from diprl.verify.exact.linear import Box, State
from diprl.verify.exact.question import Deadline

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_STARTS = 1024
_ROUNDS = 2
"""After the first round of starts, the next ones lie around those that came closest to going wrong."""
_CORNERS = 10
"""States up to which all corners of the box are tried."""
_SHARE = 0.2
"""How much of the time simulating may take; the rest is for proving."""
_LONG = 3_000
"""Steps that are simulated where a claim is about all of them."""
_RANGED_STEPS = 200
_SETTLED, _FEW, _MOST_SETTLED = 200, 64, 20_000
"""After so many steps, states of so many runs are collected as those in which the loop settles."""


@dataclass(frozen=True)
class Draws:
    """What chance does to some runs: the same each time for the same seed."""

    loop: Loop
    seed: int
    count: int

    def at(self, step: int) -> tuple[Array, Array]:
        """Unknowns [unknown, run] and the errors of features [feature, run] at a step; extremes are common."""
        plant = self.loop.plant
        size = len(plant.unknowns)
        fixed = self._shares(-1, size)
        shares = self._shares(step, size + len(self.loop.noise))
        constant = np.array([one.constant for one in plant.unknowns], bool).reshape(-1, 1)
        low = np.array([one.low for one in plant.unknowns]).reshape(-1, 1)
        high = np.array([one.high for one in plant.unknowns]).reshape(-1, 1)
        chosen = np.where(constant, fixed, shares[:size])
        return low + chosen * (high - low), (2.0 * shares[size:] - 1.0) * np.array(self.loop.noise)[:, None]

    def _shares(self, step: int, rows: int) -> Array:
        if not rows:
            return np.zeros((0, self.count))
        generator = np.random.default_rng([self.seed, step + 1])
        return np.clip(generator.uniform(-0.5, 1.5, (rows, self.count)), 0.0, 1.0)

    def only(self, run: int) -> "Callable[[int], tuple[Array, Array]]":
        """What one of the runs meets."""

        def at(step: int) -> tuple[Array, Array]:
            unknowns, errors = self.at(step)
            return unknowns[:, run : run + 1], errors[:, run : run + 1]

        return at


@dataclass(frozen=True)
class Simulated:
    """What the simulation showed."""

    start: State | None
    """From where something goes wrong."""
    chance: Callable[[int], tuple[Array, Array]] | None
    steps: int
    ranges: Array
    """How far each state ranges, which is never zero."""
    settled: Array
    """States [state, …] after most of the simulated steps."""


def simulate(loop: Loop, claim: Claim, deadline: Deadline) -> Simulated:
    """Look for a start from which something goes wrong, until the time for this is over."""
    starts = starts_of(claim.start)
    low, high = starts.min(axis=1), starts.max(axis=1)
    longest = _LONG if claim.steps is None else claim.steps
    seen, settled = 0, starts
    for number in range(_ROUNDS):
        draws = Draws(loop, number, starts.shape[1])
        margins = np.full(starts.shape[1], np.inf)
        for step, (states, going, wrong, margin) in enumerate(runs(loop, claim, starts, draws.at, longest)):
            seen = max(seen, step)
            if wrong.any():
                run = int(np.argmax(wrong))
                return Simulated(tuple(starts[:, run].tolist()), draws.only(run), step, _spread(low, high), settled)
            margins = np.fmin(margins, margin)
            counted = going & np.isfinite(states).all(axis=0)
            if counted.any() and step <= _RANGED_STEPS:
                low, high = (
                    np.minimum(low, states[:, counted].min(axis=1)),
                    np.maximum(high, states[:, counted].max(axis=1)),
                )
            if counted.any():
                last = states[:, counted]
                fresh = step <= _SETTLED or settled.shape[1] > _MOST_SETTLED
                settled = last if fresh else np.concatenate([settled, last[:, :_FEW]], axis=1)
            if deadline.used(_SHARE):
                return Simulated(None, None, seen, _spread(low, high), settled)
        starts = _around(starts[:, np.argsort(margins)[: _STARTS // 16]], claim.start, number)
    return Simulated(None, None, seen, _spread(low, high), settled)


def _spread(low: Array, high: Array) -> Array:
    return np.maximum(high / 2 - low / 2, 1e-9)


def _around(worst: Array, box: Box, seed: int) -> Array:
    """Starts around some others, in the box."""
    generator = np.random.default_rng(seed)
    chosen = worst[:, generator.integers(worst.shape[1], size=_STARTS)]
    width = np.subtract(box.high, box.low)[:, None]
    moved = chosen + 0.05 * width * generator.normal(size=chosen.shape)
    return np.clip(moved, np.array(box.low)[:, None], np.array(box.high)[:, None])


def starts_of(box: Box, count: int = _STARTS) -> Array:
    """Random states of a box and its corners, one per column."""
    states = box.samples(count)
    if len(box.low) <= _CORNERS:
        states = np.vstack([states, list(product(*zip(box.low, box.high, strict=True)))])
    return states.T


def runs(
    loop: Loop, claim: Claim, states: Array, chance: Callable[[int], tuple[Array, Array]], steps: int
) -> Iterator[tuple[Array, Flags, Flags, Array]]:
    """After 0, 1, … steps: states, which runs still count, which went wrong now, and how close each is to that."""
    plant = loop.plant
    going, label = np.ones(states.shape[1], bool), np.full(states.shape[1], -1)
    switches = np.zeros(states.shape[1], int)
    for step in range(steps + 1):
        values = dict(plant.constants) | dict(zip(plant.states, states, strict=True))
        reached = _all(claim.goal, values, going.shape) if claim.goal else np.zeros_like(going)
        over = (
            np.any([np.broadcast_to(end(values), going.shape) for end in plant.ends], axis=0) if plant.ends else ~going
        )
        wrong = going & ~reached & ~_all(claim.always if step >= claim.since else (), values, going.shape)
        if claim.switches is not None:
            wrong |= going & (switches > claim.switches)
        if claim.goal:
            wrong |= going & ~reached & (step == claim.steps)
        yield states, going, wrong, _margin(claim, values, going, reached, switches)
        going = going & ~reached & ~over
        if step == steps or not going.any():
            return
        states, now = next_states(loop, states, chance(step))
        switches = switches + ((label >= 0) & (now != label))
        label = now


def _all(wanted: Any, values: dict[str, Any], shape: tuple[int, ...]) -> Flags:
    return np.all([np.broadcast_to(one(values), shape) for one in wanted], axis=0) if wanted else np.ones(shape, bool)


def _margin(claim: Claim, values: dict[str, Any], going: Flags, reached: Flags, switches: NDArray[np.int64]) -> Array:
    """Small where a run comes close to going wrong."""
    if claim.goal:
        return np.where(going & ~reached, -1.0, 0.0) * 1.0
    if claim.switches is not None:
        return -switches.astype(float)
    found = [np.broadcast_to(one.difference(values), going.shape) for one in claim.always]
    return np.where(going, np.min(found, axis=0), np.inf) if found else np.where(going, 0.0, np.inf)


def next_states(loop: Loop, states: Array, chance: tuple[Array, Array]) -> tuple[Array, NDArray[np.int64]]:
    """The states, one per column, after one step, and the label of each action."""
    unknowns, errors = chance
    plant, program = loop.plant, loop.program
    seen = (plant.observed(states) + errors).T
    with np.errstate(all="ignore"):
        actions = program.act_batch(seen)
    label = actions if isinstance(program.signature.actions, Discrete) else program.branch_batch(seen)
    inputs = plant.inputs_of(actions)
    if plant.low:
        inputs = np.clip(inputs, np.array(plant.low)[:, None], np.array(plant.high)[:, None])
    return plant.next_states(states, inputs, unknowns), label


def environment_states(loop: Loop, start: State, steps: int, deadline: Deadline) -> list[State]:
    """The states that the Gymnasium environment itself goes through under the program, until the episode ends."""
    import gymnasium

    environment: Any = gymnasium.make(loop.plant.environment).unwrapped
    environment.reset(seed=0)
    environment.state = np.asarray(start, np.float64)
    states, terminated = [start], False
    try:
        with np.errstate(all="ignore"):
            while len(states) <= steps and not terminated:
                deadline.remaining()
                seen = loop.plant.observed(np.asarray(states[-1])[:, None])[:, 0]
                _, _, terminated, _, _ = environment.step(loop.program.act(seen))
                state = tuple(np.asarray(environment.state, np.float64).tolist())
                if not np.isfinite(state).all():
                    break
                states.append(state)
    finally:
        environment.close()
    return states

"""Simulates the closed loop from many starts, to find one that goes wrong and to learn how far states range."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from diprl.program.evaluate import act_batch
from diprl.program.formula import Comparison
from diprl.verify.closed_loop.loop import Claim, Loop
from diprl.verify.closed_loop.sets import Array, Flags
from diprl.verify.exact.linear import Box, State
from diprl.verify.exact.question import Deadline

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


@dataclass(frozen=True)
class Draws:
    """What chance does to some runs: the same each time for the same seed."""

    loop: Loop
    seed: int
    runs: int
    only: int | None = None
    """The one run that is asked about, if not all of them are."""

    def at(self, step: int) -> tuple[Array, Array]:
        """Unknowns [unknown, run] and the errors of features [feature, run] at a step; extremes are common."""
        unknowns, noise = self.loop.plant.unknowns, np.array(self.loop.noise)[:, None]
        constant = np.array([one.constant for one in unknowns], bool).reshape(-1, 1)
        sides = np.array([(one.low, one.high) for one in unknowns]).reshape(-1, 2, 1)
        fixed, shares = self._shares(-1, len(unknowns)), self._shares(step, len(unknowns) + len(noise))
        chosen = np.where(constant, fixed, shares[: len(unknowns)])
        values = sides[:, 0] + chosen * (sides[:, 1] - sides[:, 0]), (2.0 * shares[len(unknowns) :] - 1.0) * noise
        return values if self.only is None else (values[0][:, [self.only]], values[1][:, [self.only]])

    def _shares(self, step: int, rows: int) -> Array:
        generator = np.random.default_rng([self.seed, step + 1])
        return np.clip(generator.uniform(-0.5, 1.5, (rows, self.runs)), 0.0, 1.0)


@dataclass(frozen=True)
class Simulated:
    """What the simulation showed."""

    steps: int
    ranges: Array
    """How far each state ranges, which is never zero."""
    violation: tuple[State, Draws] | None = None
    """A start from which something goes wrong, and what chance did."""


def simulate(loop: Loop, claim: Claim, deadline: Deadline) -> Simulated:
    """Look for a start from which something goes wrong, until the time for this is over."""
    starts = starts_of(claim.start)
    low, high, seen = starts.min(axis=1), starts.max(axis=1), 0
    for seed in range(_ROUNDS):
        draws, margins = Draws(loop, seed, starts.shape[1]), np.full(starts.shape[1], np.inf)
        for step, (states, going, wrong) in enumerate(runs(loop, claim, starts, draws)):
            seen = max(seen, step)
            if wrong.any():
                run = int(np.argmax(wrong))
                found = tuple(starts[:, run].tolist()), Draws(loop, seed, starts.shape[1], run)
                return Simulated(step, _spread(low, high), found)
            margins = np.fmin(margins, _margin(loop, claim, states, going, step))
            counted = states[:, going & np.isfinite(states).all(axis=0)]
            if counted.size and step <= _RANGED_STEPS:
                low, high = np.minimum(low, counted.min(axis=1)), np.maximum(high, counted.max(axis=1))
            if deadline.used(_SHARE):
                return Simulated(seen, _spread(low, high))
        starts = _around(starts[:, np.argsort(margins)[: _STARTS // 16]], claim.start, seed)
    return Simulated(seen, _spread(low, high))


def _spread(low: Array, high: Array) -> Array:
    return np.maximum(high / 2 - low / 2, 1e-9)


def _around(worst: Array, box: Box, seed: int) -> Array:
    """Starts around some others, in the box."""
    generator = np.random.default_rng(seed)
    chosen = worst[:, generator.integers(worst.shape[1], size=_STARTS)]
    moved = chosen + 0.05 * np.subtract(box.high, box.low)[:, None] * generator.normal(size=chosen.shape)
    return np.clip(moved, np.array(box.low)[:, None], np.array(box.high)[:, None])


def starts_of(box: Box, count: int = _STARTS) -> Array:
    """Random states of a box and its corners, one per column."""
    states = box.samples(count)
    if len(box.low) <= _CORNERS:
        states = np.vstack([states, list(product(*zip(box.low, box.high, strict=True)))])
    return states.T


def runs(loop: Loop, claim: Claim, states: Array, chance: Draws) -> Iterator[tuple[Array, Flags, Flags]]:
    """After 0, 1, … steps: states, which runs still count, and which went wrong now."""
    last, going = _LONG if claim.steps is None else claim.steps, np.ones(states.shape[1], bool)
    for step in range(last + 1):
        reached = going & bool(claim.goal) & holding(loop, claim.goal, states)
        wrong = going & ~reached & (bool(claim.goal) and step == last)
        if step >= claim.since:
            wrong |= going & ~reached & ~holding(loop, claim.always, states)
        yield states, going, wrong
        over = [holding(loop, [end], states) for end in loop.plant.ends]
        going = going & ~reached & ~np.any([~going, *over], axis=0)
        if step == last or not going.any():
            return
        states = next_states(loop, states, chance.at(step))


def holding(loop: Loop, wanted: Sequence[Comparison], states: Array) -> Flags:
    """For which states, one per column, all comparisons hold."""
    values, found = loop.plant.values(list(states)), np.ones(states.shape[1], bool)
    for one in wanted:
        found &= one(values)
    return found


def _margin(loop: Loop, claim: Claim, states: Array, going: Flags, step: int) -> Array:
    """Small where a run comes close to going wrong, or takes long to arrive."""
    values, found = loop.plant.values(list(states)), np.full(len(going), -float(step) if claim.goal else np.inf)
    for one in claim.always if not claim.goal else ():
        found = np.minimum(found, one.difference(values))
    return np.where(going, found, np.inf)


def next_states(loop: Loop, states: Array, chance: tuple[Array, Array]) -> Array:
    """The states, one per column, after one step of a program that runs in the loop's arithmetic."""
    unknowns, errors = chance
    with np.errstate(all="ignore"):
        features: Any = (loop.plant.observed(states) + errors).astype(loop.arithmetic)
        actions = act_batch(loop.program.root, loop.program.signature.actions, features, None)
        return loop.plant.next_states(states, loop.plant.inputs_of(actions), unknowns)


def environment_states(loop: Loop, start: State, steps: int, deadline: Deadline) -> list[State]:
    """The states that the Gymnasium environment itself goes through under the program, until the episode ends."""
    import gymnasium

    environment: Any = gymnasium.make(loop.plant.environment).unwrapped
    environment.reset(seed=0)
    environment.state = np.asarray(start, np.float64)
    states, terminated = [start], False
    with closing(environment), np.errstate(all="ignore"):
        while len(states) <= steps and not terminated:
            deadline.remaining()
            seen = loop.plant.observed(np.asarray(states[-1])[:, None])[:, 0]
            _, _, terminated, _, _ = environment.step(loop.program.act(seen))
            state = tuple(np.asarray(environment.state, np.float64).tolist())
            if not np.isfinite(state).all():
                break
            states.append(state)
    return states

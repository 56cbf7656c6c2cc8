"""Simulates the closed loop from many starts, to find one that goes wrong and to learn how far states range."""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from diprl.verify.closed_loop.models import Loop
from diprl.verify.exact.linear import Box, Constraint, State
from diprl.verify.exact.polytope import Array

_STARTS = 4096
_CORNERS = 10
"""Features up to which all corners of the box are tried."""
_SHARE = 0.3
"""How much of the time simulating may take; the rest is for proving."""
_RANGED_STEPS = 100
"""Steps from which the ranges of coordinates are learnt."""


def simulate(loop: Loop, box: Box, always: Sequence[Constraint], steps: int) -> tuple[State | None, int, Array]:
    """Look for a violation until the steps, or the time for this, are over.

    Gives the earliest start found from which a constraint is broken before the episode ends, how many steps were
    simulated, and how far each coordinate ranges, which is never zero.
    """
    starts = starts_of(box)
    low, high = starts.min(axis=1), starts.max(axis=1)
    violation, step = None, 0
    for step, (states, going_on) in enumerate(runs(loop, starts, steps)):
        counted = going_on & np.isfinite(states).all(axis=0)
        if counted.any() and step <= _RANGED_STEPS:
            low = np.minimum(low, states[:, counted].min(axis=1))
            high = np.maximum(high, states[:, counted].max(axis=1))
        broken = counted & ~_satisfied(states, always)
        if broken.any():
            violation = tuple(starts[:, int(np.argmax(broken))].tolist())
        if violation is not None or loop.deadline.used(_SHARE):
            break
    return violation, step, np.maximum(high / 2 - low / 2, 1e-9)


def starts_of(box: Box, count: int = _STARTS) -> Array:
    """Random states of a box and its corners, one per column."""
    states = box.samples(count)
    if len(box.low) <= _CORNERS:
        states = np.vstack([states, list(product(*zip(box.low, box.high, strict=True)))])
    return states.T


def runs(loop: Loop, states: Array, steps: int) -> Iterator[tuple[Array, NDArray[np.bool_]]]:
    """The states after 0, 1, … steps, and whether each one's episode was still going on before its last step."""
    going_on = np.ones(states.shape[1], bool)
    low, high = (np.array(bounds)[:, None] for bounds in (loop.model.going_on.low, loop.model.going_on.high))
    for step in range(steps + 1):
        yield states, going_on.copy()
        going_on &= ((states >= low) & (states <= high)).all(axis=0)
        if not going_on.any():
            return
        if step < steps:
            states = next_states(loop, states)


def next_states(loop: Loop, states: Array) -> Array:
    """The states (one per column) after one step under the program, which sees them as 32-bit floats."""
    with np.errstate(all="ignore"):
        actions = loop.program.act_batch(states.T.astype(np.float32).astype(np.float64))
        after = [loop.model.step(list(states), action) for action in range(loop.model.actions)]
        return np.stack([np.choose(actions, outcomes) for outcomes in zip(*after, strict=True)])


def _satisfied(states: Array, always: Sequence[Constraint]) -> NDArray[np.bool_]:
    satisfied = np.ones(states.shape[1], bool)
    with np.errstate(all="ignore"):
        for constraint in always:
            weights = np.array([float(weight) for weight in constraint.weights])
            value = weights @ states + float(constraint.bias)
            satisfied &= value > 0.0 if constraint.strict else value >= 0.0
    return satisfied

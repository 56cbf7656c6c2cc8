"""Simulates the closed loop from many starts, to find one that goes wrong and to learn how far states range."""

from collections.abc import Iterator, Sequence
from itertools import product
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.verify.context import Context
from diprl.verify.exact.linear import Box, Constraint, State
from diprl.verify.exact.polytope import Array
from diprl.verify.exact.rounding import observed

_STARTS = 4096
_CORNERS = 10
"""Features up to which all corners of the box are tried."""
_SHARE = 0.3
"""How much of the time simulating may take; the rest is for proving."""
_RANGED_STEPS = 100
"""Steps from which the ranges of coordinates are learnt."""


def simulate(context: Context, box: Box, always: Sequence[Constraint], steps: int) -> tuple[State | None, int, Array]:
    """Look for a violation until the steps, or the time for this, are over.

    Gives the earliest start found from which a constraint is broken before the episode ends, how many steps were
    simulated, and how far each coordinate ranges, which is never zero.
    """
    starts = starts_of(box)
    low, high = starts.min(axis=1), starts.max(axis=1)
    violation, step = None, 0
    for step, (states, going_on) in enumerate(runs(context, starts, steps)):
        counted = going_on & np.isfinite(states).all(axis=0)
        if counted.any() and step <= _RANGED_STEPS:
            low = np.minimum(low, states[:, counted].min(axis=1))
            high = np.maximum(high, states[:, counted].max(axis=1))
        broken = counted & ~_satisfied(states, always)
        if broken.any():
            violation = tuple(starts[:, int(np.argmax(broken))].tolist())
        if violation is not None or context.deadline.used(_SHARE):
            break
    return violation, step, np.maximum(high / 2 - low / 2, 1e-9)


def starts_of(box: Box, count: int = _STARTS) -> Array:
    """Random states of a box and its corners, one per column."""
    states = box.samples(count)
    if len(box.low) <= _CORNERS:
        states = np.vstack([states, list(product(*zip(box.low, box.high, strict=True)))])
    return states.T


def runs(context: Context, states: Array, steps: int) -> Iterator[tuple[Array, NDArray[np.bool_]]]:
    """The states after 0, 1, … steps, and whether each one's episode was still going on before its last step."""
    going_on = np.ones(states.shape[1], bool)
    box = context.dynamics.going_on
    low, high = np.array(box.low)[:, None], np.array(box.high)[:, None]
    for step in range(steps + 1):
        yield states, going_on.copy()
        going_on &= ((states >= low) & (states <= high)).all(axis=0)
        if not going_on.any():
            return
        if step < steps:
            states = next_states(context, states)


def next_states(context: Context, states: Array) -> Array:
    """The states (one per column) after one step under the program, which sees them as 32-bit floats."""
    with np.errstate(all="ignore"):
        actions = context.program.act_batch(states.T.astype(np.float32).astype(np.float64))
        after = [context.dynamics.step(list(states), action) for action in range(context.dynamics.actions)]
        return np.stack([np.choose(actions, outcomes) for outcomes in zip(*after, strict=True)])


def _satisfied(states: Array, always: Sequence[Constraint]) -> NDArray[np.bool_]:
    with np.errstate(all="ignore"):
        values = [np.array([*map(float, one.weights)]) @ states + float(one.bias) for one in always]
    return np.all([value > 0.0 if one.strict else value >= 0.0 for one, value in zip(always, values, strict=True)], 0)


def trajectory(context: Context, start: State, steps: int) -> list[State]:
    """The states that the environment goes through under the program, until the episode ends.

    It also ends before a state that is no finite number.
    """
    import gymnasium

    environment: Any = gymnasium.make(context.dynamics.environment).unwrapped
    environment.reset(seed=0)
    environment.state = np.asarray(start, np.float64)
    states, terminated = [start], False
    try:
        with np.errstate(all="ignore"):
            while len(states) <= steps and not terminated:
                context.deadline.remaining()
                _, _, terminated, _, _ = environment.step(context.program.act(observed(states[-1])))
                state = tuple(np.asarray(environment.state, np.float64).tolist())
                if not all(map(isfinite, state)):
                    break
                states.append(state)
    finally:
        environment.close()
    return states

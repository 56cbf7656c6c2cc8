"""Looks for a start from which the closed loop goes wrong, by simulating many of them."""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.verify.constraint import Box, Constraint
from diprl.verify.context import State
from diprl.verify.models import Model

Array = NDArray[np.float64]

_STARTS = 4096
_CORNERS = 10
"""Features up to which all corners of the box are tried."""


def simulate(program: Program, model: Model, states: Array) -> Array:
    """The states (one per column) after one step under the program, which sees them as 32-bit floats."""
    actions = program.act_batch(states.T.astype(np.float32).astype(np.float64))
    return np.stack(
        [
            np.choose(actions, outcomes)
            for outcomes in zip(*(model.step(list(states), action) for action in range(model.actions)), strict=True)
        ]
    )


def starts_of(box: Box, count: int = _STARTS, seed: int = 0) -> Array:
    """Random states of a box and its corners, one per column."""
    generator = np.random.default_rng(seed)
    states = generator.uniform(box.low, box.high, (count, len(box.low)))
    if len(box.low) <= _CORNERS:
        states = np.vstack([states, list(product(*zip(box.low, box.high, strict=True)))])
    return states.T


def find_violation(program: Program, model: Model, box: Box, always: Sequence[Constraint], steps: int) -> State | None:
    """A start whose simulation breaks a constraint before its episode ends, the earliest one found."""
    starts = starts_of(box)
    for states, going_on in runs(program, model, starts, steps):
        broken = going_on & ~_satisfied(states, always)
        if broken.any():
            return tuple(starts[:, int(np.argmax(broken))].tolist())
    return None


def visited_ranges(program: Program, model: Model, box: Box, steps: int) -> Array:
    """How far each coordinate ranges over simulated episodes; never zero."""
    seen = [states[:, going_on] for states, going_on in runs(program, model, starts_of(box), steps)]
    return np.maximum(np.ptp(np.concatenate(seen, axis=1), axis=1), 1e-9)


def runs(program: Program, model: Model, states: Array, steps: int) -> Iterator[tuple[Array, NDArray[np.bool_]]]:
    """The states after 0, 1, … steps, and whether each one's episode was still going on before its last step."""
    going_on = np.ones(states.shape[1], bool)
    low, high = np.array(model.going_on.low)[:, None], np.array(model.going_on.high)[:, None]
    for step in range(steps + 1):
        yield states, going_on.copy()
        going_on &= ((states >= low) & (states <= high)).all(axis=0)
        if not going_on.any():
            return
        if step < steps:
            states = simulate(program, model, states)


def _satisfied(states: Array, always: Sequence[Constraint]) -> NDArray[np.bool_]:
    satisfied = np.ones(states.shape[1], bool)
    for constraint in always:
        value = np.array([float(weight) for weight in constraint.weights]) @ states + float(constraint.bias)
        satisfied &= value > 0.0 if constraint.strict else value >= 0.0
    return satisfied

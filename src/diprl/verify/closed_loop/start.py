"""The sets from which the closed loop is followed, and the directions along which they will be bounded."""

from collections.abc import Sequence
from math import cos, inf, pi, sin

import numpy as np

from diprl.program.ast import conditions
from diprl.verify.closed_loop.reach import Loop
from diprl.verify.exact.linear import Box, Constraint, exact
from diprl.verify.exact.polytope import Array, Polytope, axes, box_offsets, upper_bound

_ANGLES = 8
"""Directions that share a half-turn where the state has two coordinates."""


def start_sets(loop: Loop, box: Box, always: Sequence[Constraint], scales: Array, most: int) -> list[Polytope]:
    """The box in at most so many polytopes, bounded along the directions that matter."""
    directions = directions_for(loop, always, scales)
    return [polytope_of(loop, part, directions) for part in split(box, scales, most)]


def directions_for(loop: Loop, always: Sequence[Constraint], scales: Array) -> Array:
    """The axes, the program's conditions, the wanted properties and, in the plane, directions in between.

    Each is followed by its opposite.
    """
    rows = [condition.weights for condition in conditions(loop.root)]
    rows += [tuple(map(float, constraint.weights)) for constraint in always]
    if len(scales) == 2:
        angles = (pi * number / _ANGLES for number in range(1, _ANGLES))
        rows += [(cos(angle) / scales[0], sin(angle) / scales[1]) for angle in angles]
    directions = axes(len(scales))
    for row in map(np.asarray, rows):
        loop.check_time()
        norm = float(np.abs(row).max())
        unit = row / norm if norm else row
        if norm and not np.isclose(directions, unit, rtol=1e-9, atol=0.0).all(axis=1).any():
            directions = np.vstack([directions, unit, -unit])
    return directions


def polytope_of(loop: Loop, box: Box, directions: Array) -> Polytope:
    """A box with its bounds along all directions."""
    offsets = np.full(len(directions), inf)
    offsets[: 2 * len(box.low)] = box_offsets(box)
    plain = Polytope(directions, offsets)
    bounds = []
    for row in directions:
        loop.check_time()
        bounds.append(upper_bound(plain, exact(row.tolist())))
    return Polytope(directions, np.array(bounds))


def split(box: Box, scales: Array, count: int) -> list[Box]:
    """A box in so many parts, halving the side that is longest in scaled units each time."""
    parts = [box]
    while len(parts) < count:
        widths = [(np.asarray(part.high) / 2 - np.asarray(part.low) / 2) / scales for part in parts]
        longest = int(np.argmax([width.max() for width in widths]))
        side = int(np.argmax(widths[longest]))
        if widths[longest][side] == 0.0:
            break
        parts += _halves(parts.pop(longest), side)
    return parts


def _halves(box: Box, side: int) -> list[Box]:
    middle = box.low[side] / 2 + box.high[side] / 2
    low, high = list(box.low), list(box.high)
    low[side] = high[side] = middle
    return [Box(box.low, tuple(high)), Box(tuple(low), box.high)]

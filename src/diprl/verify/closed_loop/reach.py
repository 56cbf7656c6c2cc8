"""Which states a program's closed loop can be in after each step: sound enclosures by polytopes.

Every polytope is cut along the program's conditions, each part moves by the linear part of its enclosed dynamics,
and the bound along each direction grows by what that leaves out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import cos, inf, pi, sin

import numpy as np

from diprl.program.ast import Act, Condition, conditions
from diprl.verify.closed_loop.enclosure import coordinates
from diprl.verify.context import Context
from diprl.verify.exact.cells import leaves_along
from diprl.verify.exact.linear import Box, Constraint, dot, exact, of_condition
from diprl.verify.exact.polytope import Array, Polytope, axes, upper_bound
from diprl.verify.exact.rounding import rounded_up, rounding_error

_ANGLES = 8
"""Directions that share a half-turn where the state has two coordinates."""
_STEP_ROUNDING = 2.0**-40
"""Relative to one plus a coordinate's size: far more than the environment's own arithmetic rounds in one step."""


def start_sets(context: Context, box: Box, always: Sequence[Constraint], scales: Array, most: int) -> list[Polytope]:
    """The box in at most so many polytopes, bounded along the directions that matter."""
    directions = _directions(context, always, scales)
    return [polytope_of(context, part, directions) for part in split(box, scales, most)]


def _directions(context: Context, always: Sequence[Constraint], scales: Array) -> Array:
    """The axes, the program's conditions, the wanted properties and, in the plane, directions in between.

    Each is followed by its opposite.
    """
    rows = [condition.weights for condition in conditions(context.program.root)]
    rows += [tuple(map(float, constraint.weights)) for constraint in always]
    if len(scales) == 2:
        angles = (pi * number / _ANGLES for number in range(1, _ANGLES))
        rows += [(cos(angle) / scales[0], sin(angle) / scales[1]) for angle in angles]
    directions = axes(len(scales))
    for row in (np.array(row) for row in rows if any(row)):
        context.deadline.remaining()
        unit = row / np.abs(row).max()
        if not np.isclose(directions, unit, rtol=1e-9, atol=0.0).all(axis=1).any():
            directions = np.vstack([directions, unit, -unit])
    return directions


def polytope_of(context: Context, box: Box, directions: Array) -> Polytope:
    """A box with its bounds along all directions."""
    return _tightened(context, Polytope(directions, np.full(len(directions), inf)).within(box), len(directions))


def _tightened(context: Context, polytope: Polytope, count: int) -> Polytope:
    """The same set with the smallest bounds along its first directions."""
    offsets = polytope.offsets.copy()
    for index, direction in enumerate(polytope.directions[:count].tolist()):
        context.deadline.remaining()
        offsets[index] = min(offsets[index], upper_bound(polytope, exact(direction)))
    return replace(polytope, offsets=offsets)


def split(box: Box, scales: Array, count: int) -> list[Box]:
    """A box in so many parts, halving the side that is longest in scaled units each time."""
    parts = [box]
    while len(parts) < count:
        widths = np.array([(np.asarray(part.high) / 2 - np.asarray(part.low) / 2) / scales for part in parts])
        longest, side = np.unravel_index(np.argmax(widths), widths.shape)
        if widths[longest, side] == 0.0:
            break
        part = parts.pop(int(longest))
        low, high = list(part.low), list(part.high)
        low[side] = high[side] = part.low[side] / 2 + part.high[side] / 2
        parts += [Box(part.low, tuple(high)), Box(tuple(low), part.high)]
    return parts


def successors(context: Context, current: Polytope) -> Iterator[Polytope]:
    """Enclosures of all states one step after those of a polytope, one per part with one action."""
    going_on = current.within(context.dynamics.going_on)
    if going_on.empty:
        return
    for _, leaf, part in leaves_along(context.program.root, going_on, partial(_cut, context)):
        assert isinstance(leaf, Act)  # models are given for discrete actions only
        tight = _tightened(context, part, 2 * part.dimensions)
        if not tight.empty:
            yield _moved(context, tight, leaf.action, current.directions).within(context.dynamics.reached)


def _cut(context: Context, part: Polytope, condition: Condition, holds: bool) -> Polytope | None:
    """The part where a condition may come out as given, or None where it cannot.

    The environment hands over a state as 32-bit floats, and the condition is computed in 64-bit ones. So parts
    overlap by what rounding may decide.
    """
    context.deadline.remaining()
    wanted = of_condition(condition, holds)
    margin = rounding_error(condition.weights, condition.bias, part.box, observed=True)
    if margin is None:
        return part
    if upper_bound(part, wanted.weights) < -wanted.bias - margin:
        return None
    away = [-float(weight) for weight in wanted.weights]
    offsets = np.append(part.offsets, rounded_up(wanted.bias + margin))
    return Polytope(np.vstack([part.directions, away]), offsets)


def _moved(context: Context, part: Polytope, action: int, directions: Array) -> Polytope:
    """The image of a part under one action."""
    forms, middle = coordinates(part.low, part.high)
    with np.errstate(all="ignore"):
        after = context.dynamics.step(forms, action)
        errors = [form.error + _STEP_ROUNDING * (1.0 + form.size()) for form in after]
    slopes = [exact(form.slopes.tolist()) for form in after]
    # x = middle + d, so an image is slopes · x plus this constant, plus the error
    constants = [Fraction(form.centre) - dot(row, middle.tolist()) for form, row in zip(after, slopes, strict=True)]
    offsets = np.full(len(directions), inf)
    for index, direction in enumerate(map(exact, directions.tolist())):
        context.deadline.remaining()
        if all(error < inf for error, weight in zip(errors, direction, strict=True) if weight):
            bound = upper_bound(part, tuple(dot(direction, column) for column in zip(*slopes, strict=True)))
            extra = dot(direction, constants) + dot(tuple(map(abs, direction)), errors)
            offsets[index] = rounded_up(Fraction(bound) + extra) if bound < inf else inf
    return Polytope(directions, offsets)

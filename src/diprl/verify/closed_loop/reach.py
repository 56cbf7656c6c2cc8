"""Which states a program's closed loop can be in after each step: sound enclosures by polytopes.

Every polytope is cut along the program's conditions, each part moves by the linear part of its enclosed dynamics,
and the bound along each direction grows by what that leaves out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf

import numpy as np

from diprl.program.ast import Act, Condition, Node
from diprl.verify.closed_loop.enclosure import coordinates
from diprl.verify.closed_loop.models import Model
from diprl.verify.exact.linear import Box, exact, of_condition
from diprl.verify.exact.polytope import Array, Polytope, box_offsets, upper_bound
from diprl.verify.exact.rounding import rounded_up, rounding_error, sizes_of
from diprl.verify.exact.walk import leaves_along

STEP_ROUNDING = 2.0**-40
"""Relative to one plus a coordinate's size: far more than the environment's own arithmetic rounds in one step."""


@dataclass(frozen=True)
class Loop:
    """A program together with the dynamics that it acts on."""

    root: Node
    model: Model
    check_time: Callable[[], object]
    """Called before everything that takes long; raises when time is up."""


def successors(loop: Loop, current: Polytope) -> Iterator[Polytope]:
    """Enclosures of all states one step after those of a polytope, one per part with one action."""
    for part, action in _parts(loop, _within(current, loop.model.going_on)):
        tight = part.tightened()
        if (tight.low <= tight.high).all():
            yield _within(_moved(loop, tight, action, current.directions), loop.model.reached)


def _within(polytope: Polytope, box: Box) -> Polytope:
    offsets, sides = polytope.offsets.copy(), box_offsets(box)
    offsets[: len(sides)] = np.minimum(offsets[: len(sides)], sides)
    return replace(polytope, offsets=offsets)


def _parts(loop: Loop, current: Polytope) -> Iterator[tuple[Polytope, int]]:
    """The parts on which the program may take one action; they overlap by what rounding may decide."""

    def turn(part: Polytope, condition: Condition, holds: bool) -> Polytope | None:
        loop.check_time()
        return _cut(part, condition, holds)

    if (current.low <= current.high).all():
        for _, leaf, part in leaves_along(loop.root, current, turn):
            assert isinstance(leaf, Act)  # models are given for discrete actions only
            yield part, leaf.action


def _cut(part: Polytope, condition: Condition, holds: bool) -> Polytope | None:
    """The part where a condition may come out as given, or None where it cannot.

    The environment hands over a state as 32-bit floats, and the condition is computed in 64-bit ones.
    """
    wanted = of_condition(condition, holds)
    sizes = sizes_of(part.low.tolist(), part.high.tolist())
    margin = rounding_error(condition.weights, condition.bias, sizes, observed=True)
    if margin is None:
        return part
    if upper_bound(part, wanted.weights) < -wanted.bias - margin:
        return None
    away = [-float(weight) for weight in wanted.weights]
    return part.cut(away, rounded_up(wanted.bias + margin))


def _moved(loop: Loop, part: Polytope, action: int, directions: Array) -> Polytope:
    """The image of a part under one action."""
    forms, middle = coordinates(part.low, part.high)
    with np.errstate(all="ignore"):
        after = loop.model.step(forms, action)
        errors = [form.error + STEP_ROUNDING * (1.0 + form.size()) for form in after]
    slopes = [exact(form.slopes.tolist()) for form in after]
    # x = middle + d, so an image is slopes · x plus this constant, plus the error
    constants = [
        Fraction(form.centre) - sum(s * Fraction(m) for s, m in zip(row, middle.tolist(), strict=True) if s)
        for form, row in zip(after, slopes, strict=True)
    ]
    offsets = np.full(len(directions), inf)
    for index, direction in enumerate(directions):
        loop.check_time()
        read = np.flatnonzero(direction)
        if all(errors[entry] < inf for entry in read):
            weights = {int(entry): Fraction(float(direction[entry])) for entry in read}
            objective = tuple(
                sum((weight * slopes[entry][column] for entry, weight in weights.items()), Fraction(0))
                for column in range(part.dimensions)
            )
            extra = sum(w * constants[e] + abs(w) * Fraction(errors[e]) for e, w in weights.items())
            bound = upper_bound(part, objective)
            offsets[index] = rounded_up(Fraction(bound) + extra) if bound < inf else inf
    return Polytope(directions, offsets)

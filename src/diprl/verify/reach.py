"""Which states a program's closed loop can be in after each step: sound enclosures by polytopes.

Every polytope is cut along the program's conditions, each part moves by the linear part of its enclosed dynamics,
and the bound along each direction grows by what that leaves out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf

import numpy as np
from numpy.typing import NDArray

from diprl.program.ast import Act, Condition, If, Node
from diprl.verify.constraint import Box, exact, of_condition
from diprl.verify.enclosure import coordinates
from diprl.verify.models import Model
from diprl.verify.polytope import Polytope, rounded_up, upper_bound

Array = NDArray[np.float64]

STEP_ROUNDING = 2.0**-40
"""Relative to one plus a coordinate's size: far more than the environment's own arithmetic rounds in one step."""
_OBSERVATION = 2.0**-24 * 1.0000001
"""Relative rounding of an observation, which the environment hands over as a 32-bit float."""


@dataclass(frozen=True)
class Loop:
    """A program together with the dynamics that it acts on."""

    root: Node
    model: Model
    check_time: Callable[[], object]
    """Called before every part; raises when time is up."""


def successors(loop: Loop, current: Polytope) -> Iterator[Polytope]:
    """Enclosures of all states one step after those of a polytope, one per part with one action."""
    for part, action in _parts(loop, _within(current, loop.model.going_on)):
        tight = part.tightened()
        if (tight.low <= tight.high).all():
            yield _within(_moved(loop, tight, action, current.directions), loop.model.reached)


def _within(polytope: Polytope, box: Box) -> Polytope:
    offsets = polytope.offsets.copy()
    size = 2 * polytope.dimensions
    offsets[:size:2] = np.minimum(offsets[:size:2], box.high)
    offsets[1:size:2] = np.minimum(offsets[1:size:2], [-low for low in box.low])
    return replace(polytope, offsets=offsets)


def _parts(loop: Loop, current: Polytope) -> Iterator[tuple[Polytope, int]]:
    """The parts on which the program may take one action; they overlap by what rounding may decide."""
    if (current.low > current.high).any():
        return
    stack: list[tuple[Polytope, Node]] = [(current, loop.root)]
    while stack:
        loop.check_time()
        part, node = stack.pop()
        if isinstance(node, If):
            for holds, branch in ((False, node.orelse), (True, node.then)):
                rest = _cut(part, node.condition, holds)
                stack += [(rest, branch)] if rest is not None else []
        else:
            assert isinstance(node, Act)  # models are given for discrete actions only
            yield part, node.action


def _cut(part: Polytope, condition: Condition, holds: bool) -> Polytope | None:
    """The part where a condition may come out as given, or None where it cannot."""
    wanted = of_condition(condition, holds)
    margin = observation_margin(condition, part)
    if margin == inf:
        return part
    if upper_bound(part, wanted.weights) < -wanted.bias - Fraction(margin):
        return None
    away = [-float(weight) for weight in wanted.weights]
    return part.cut(away, rounded_up(wanted.bias + Fraction(margin)))


def observation_margin(condition: Condition, part: Polytope) -> float:
    """By how much a condition's value may change when the state is rounded to float32 and summed in float64."""
    sizes = np.maximum(np.abs(part.low), np.abs(part.high))
    weights = np.abs(condition.weights)
    read = weights != 0.0
    total = float(np.sum(weights[read] * sizes[read])) + abs(condition.bias)
    return total * (_OBSERVATION + 2.0**-53 * (len(weights) + 2)) * 1.01 + 1e-40 * float(weights.sum())


def _moved(loop: Loop, part: Polytope, action: int, directions: Array) -> Polytope:
    """The image of a part under one action."""
    forms, middle = coordinates(part.low, part.high)
    after = loop.model.step(forms, action)
    slopes = [exact(form.slopes.tolist()) for form in after]
    # x = middle + d, so an image is slopes · x plus this constant, plus the error
    constants = [
        Fraction(form.centre) - sum(s * Fraction(m) for s, m in zip(row, middle.tolist(), strict=True) if s)
        for form, row in zip(after, slopes, strict=True)
    ]
    errors = [form.error + STEP_ROUNDING * (1.0 + form.size()) for form in after]
    offsets = np.full(len(directions), inf)
    for index, direction in enumerate(directions):
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

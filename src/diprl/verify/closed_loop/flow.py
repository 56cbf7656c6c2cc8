"""Follows sets of states step by step, and looks for a set that the closed loop never leaves."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np

from diprl.verify.closed_loop.reach import Loop, successors
from diprl.verify.exact.linear import Constraint
from diprl.verify.exact.polytope import Polytope, upper_bound

_INFLATION = 0.02
"""How much wider than expected a set is tried that no step leaves."""
_ROUNDS = 8
"""How often that set is enlarged before the attempt ends."""


def flow(loop: Loop, start: Sequence[Polytope], most: int) -> Iterator[list[Polytope]]:
    """Enclosures of the states after 0, 1, 2, … steps, by at most so many polytopes each."""
    current = list(start)
    while True:
        yield current
        joined: list[Polytope] = []
        for after in (after for polytope in current for after in successors(loop, polytope)):
            joined = _with_one_more(joined, after, most)
        current = joined


def _with_one_more(polytopes: list[Polytope], another: Polytope, most: int) -> list[Polytope]:
    """At most so many polytopes around all the given ones, joining the two that differ least."""
    rest = [*polytopes, another]
    if len(rest) <= most:
        return rest
    first, second = _closest([polytope.offsets for polytope in rest])
    joined = hull([rest[first], rest[second]])
    return [*(polytope for index, polytope in enumerate(rest) if index not in (first, second)), joined]


def hull(polytopes: Sequence[Polytope]) -> Polytope:
    """The smallest polytope with the same directions around several."""
    offsets = np.max([polytope.offsets for polytope in polytopes], axis=0)
    return replace(polytopes[0], offsets=offsets)


def _closest(offsets: Sequence[np.ndarray]) -> tuple[int, int]:
    rows = np.array(offsets)
    rows = rows[:, np.isfinite(rows).all(axis=0)]
    with np.errstate(all="ignore"):
        scale = np.maximum(np.ptp(rows, axis=0), 1e-300)
        distances = np.abs(rows[:, None] - rows[None]).dot(1.0 / scale)
    np.fill_diagonal(distances, inf)
    first, second = np.unravel_index(np.argmin(distances), distances.shape)
    return int(first), int(second)


def satisfies(polytope: Polytope, wanted: Sequence[Constraint]) -> bool:
    """Whether every point of the polytope certainly satisfies all constraints."""
    for constraint in wanted:
        most = upper_bound(polytope, constraint.negated().weights)
        least = constraint.bias - Fraction(most) if most < inf else -1
        if least < 0 or (least == 0 and constraint.strict):
            return False
    return True


def extrapolated(history: Sequence[Polytope]) -> Polytope:
    """Where the bounds of the last three steps are heading, as if they approached it geometrically."""
    before, current, after = (polytope.offsets for polytope in history[-3:])
    with np.errstate(all="ignore"):
        growth, last = after - current, current - before
        ratio = growth / last
        limit = np.where(ratio < 0.995, after + growth * ratio / (1.0 - ratio), inf)
    return replace(history[-1], offsets=np.where((growth > 0.0) & (last > 0.0), limit, after))


def kept_forever(loop: Loop, reached: Polytope, expected: Polytope, wanted: Sequence[Constraint]) -> Polytope | None:
    """A set around what was reached that satisfies the constraints and that no step leaves, if one is found.

    A bound that a step exceeds is raised, and given up in the end, until they all hold each other.
    """
    candidate = _inflated(hull([reached, expected]), _INFLATION)
    for attempt in range(_ROUNDS):
        if not satisfies(candidate, wanted):
            return None
        after = hull([candidate, *successors(loop, candidate)])
        exceeded = after.offsets > candidate.offsets
        if not exceeded.any():
            return candidate
        raised = _inflated(after, _INFLATION).offsets if attempt < _ROUNDS // 2 else inf
        candidate = replace(candidate, offsets=np.where(exceeded, raised, candidate.offsets))
    return None


def _inflated(polytope: Polytope, factor: float) -> Polytope:
    """Wider by a factor along every direction; opposite directions stand next to each other."""
    pairs = polytope.offsets.reshape(-1, 2)
    width = np.maximum(pairs.sum(axis=1, keepdims=True), 0.0)
    width[~np.isfinite(width)] = 0.0
    return replace(polytope, offsets=(pairs + factor / 2 * width).ravel())

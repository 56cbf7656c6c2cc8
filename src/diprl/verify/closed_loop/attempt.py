"""Attempts to prove that a closed loop stays where it should, for some steps or for ever."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import inf

import numpy as np

from diprl.verify.closed_loop.reach import start_sets, successors
from diprl.verify.context import Context
from diprl.verify.exact.linear import Box, Constraint
from diprl.verify.exact.polytope import Array, Polytope, upper_bound
from diprl.verify.exact.question import Undecided

MOST_SETS = (1, 8, 32)
"""How many polytopes may enclose the states of one step, tried in turn: more are tighter and take longer."""
_INVARIANT_AFTER = (4, 8, 16, 32)
"""After how many steps a set that is never left is looked for."""
_INFLATION = 0.02
"""How much wider than expected a set is tried that no step leaves."""
_ROUNDS = 8
"""How often that set is enlarged before the attempt ends."""


@dataclass(frozen=True)
class Attempt:
    """How far the enclosures satisfied what is wanted."""

    steps: int
    """The last step that is proved; −1 where not even the start is."""
    forever: bool = False
    widest: Polytope | None = None
    """Around everything enclosed so far."""
    stopped: str = ""
    """Why it did not get further, other than that an enclosure is too wide."""


def best_attempt(context: Context, box: Box, always: Sequence[Constraint], steps: int, scales: Array) -> Attempt:
    """Try ever more and smaller sets until all steps are proved or the time is up."""
    best = Attempt(-1)
    for most in MOST_SETS:
        attempt = _attempt(context, box, always, steps, scales, most)
        if attempt.forever or attempt.steps > best.steps or best.widest is None:
            best = attempt
        if best.forever or best.steps == steps or attempt.stopped:
            break
    return best


def _attempt(context: Context, box: Box, always: Sequence[Constraint], steps: int, scales: Array, most: int) -> Attempt:
    """Enclose step after step until something wanted is not certain any more."""
    done, widest, hulls = -1, None, []
    try:
        for step, sets in enumerate(flow(context, start_sets(context, box, always, scales, most), most)):
            if not sets:
                return Attempt(step, True, widest)
            hulls = [*hulls[-2:], hull(sets)]
            widest = hull(sets if widest is None else [widest, *sets])
            if not all(_satisfies(polytope, always) for polytope in sets):
                break
            done = step
            if step == steps:
                break
            if most == 1 and step in _INVARIANT_AFTER:
                forever = _kept_forever(context, hull([widest, _extrapolated(hulls)]), always)
                if forever is not None:
                    return Attempt(step, True, forever)
    except Undecided as reason:
        return Attempt(done, False, widest, str(reason))
    return Attempt(done, False, widest)


def flow(context: Context, start: Sequence[Polytope], most: int) -> Iterator[list[Polytope]]:
    """Enclosures of the states after 0, 1, 2, … steps, by at most so many polytopes each."""
    current = list(start)
    while True:
        yield current
        after: list[Polytope] = []
        for successor in chain.from_iterable(successors(context, polytope) for polytope in current):
            after.append(successor)
            if len(after) > most:
                second, first = sorted(_closest(after), reverse=True)
                after.append(hull([after.pop(second), after.pop(first)]))
        current = after


def hull(polytopes: Sequence[Polytope]) -> Polytope:
    """The smallest polytope with the same directions around several."""
    return replace(polytopes[0], offsets=np.max([polytope.offsets for polytope in polytopes], axis=0))


def _closest(polytopes: Sequence[Polytope]) -> tuple[int, int]:
    """The two that differ least."""
    rows = np.array([polytope.offsets for polytope in polytopes])
    rows = rows[:, np.isfinite(rows).all(axis=0)]
    with np.errstate(all="ignore"):
        scale = np.maximum(np.ptp(rows, axis=0), 1e-300)
        distances = np.abs(rows[:, None] - rows[None]).dot(1.0 / scale)
    np.fill_diagonal(distances, inf)
    first, second = np.unravel_index(np.argmin(distances), distances.shape)
    return int(first), int(second)


def _satisfies(polytope: Polytope, wanted: Sequence[Constraint]) -> bool:
    """Whether every point of the polytope certainly satisfies all constraints."""
    bounds = [(upper_bound(polytope, one.negated().weights), one) for one in wanted]
    return all(most < one.bias or (most == one.bias and not one.strict) for most, one in bounds)


def _extrapolated(history: Sequence[Polytope]) -> Polytope:
    """Where the bounds of the last three steps are heading, as if they approached it geometrically."""
    before, current, after = (polytope.offsets for polytope in history)
    with np.errstate(all="ignore"):
        growth, last = after - current, current - before
        ratio = growth / last
        limit = np.where(ratio < 0.995, after + growth * ratio / (1.0 - ratio), inf)
    return replace(history[-1], offsets=np.where((growth > 0.0) & (last > 0.0), limit, after))


def _kept_forever(context: Context, expected: Polytope, wanted: Sequence[Constraint]) -> Polytope | None:
    """A set around the expected one that satisfies the constraints and that no step leaves, if one is found.

    A bound that a step exceeds is raised, and given up in the end, until they all hold each other.
    """
    candidate = _inflated(expected)
    for attempt in range(_ROUNDS):
        if not _satisfies(candidate, wanted):
            return None
        after = hull([candidate, *successors(context, candidate)])
        exceeded = after.offsets > candidate.offsets
        if not exceeded.any():
            return candidate
        raised = _inflated(after).offsets if attempt < _ROUNDS // 2 else inf
        candidate = replace(candidate, offsets=np.where(exceeded, raised, candidate.offsets))
    return None


def _inflated(polytope: Polytope) -> Polytope:
    """A little wider along every direction; opposite directions stand next to each other."""
    pairs = polytope.offsets.reshape(-1, 2)
    width = np.maximum(pairs.sum(axis=1, keepdims=True), 0.0)
    width[~np.isfinite(width)] = 0.0
    return replace(polytope, offsets=(pairs + _INFLATION / 2 * width).ravel())

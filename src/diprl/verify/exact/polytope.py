"""Sets of states given by upper bounds along fixed directions, with bounds that are certified in exact arithmetic.

A small linear program finds the multipliers of a bound, and weak duality makes any non-negative multipliers give
a valid one: c · x <= λ · b + max over the box of (c − λ A) · x. That is computed in rationals and rounded up, so
rounding errors of the linear program cost tightness, never truth.
"""

from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from diprl.verify.exact.linear import Box, Weights, dot, exact
from diprl.verify.exact.rounding import nearest_float, rounded_up

Array = NDArray[np.float64]

_FAR = 1e9
"""Stands for an infinite bound while multipliers are looked for."""
_TOLERANCE = 1e-11
_MOST_SWAPS = 60


@dataclass(frozen=True, eq=False)
class Polytope:
    """The points with directions · x <= offsets; the first 2n directions are ±e_1, …, ±e_n."""

    directions: Array
    offsets: Array

    @property
    def dimensions(self) -> int:
        return self.directions.shape[1]

    @property
    def low(self) -> Array:
        return -self.offsets[1 : 2 * self.dimensions : 2]

    @property
    def high(self) -> Array:
        return self.offsets[: 2 * self.dimensions : 2]

    @property
    def box(self) -> Box:
        return Box(tuple(self.low.tolist()), tuple(self.high.tolist()))

    @property
    def empty(self) -> bool:
        """Whether its bounds along some axis contradict each other; it may have no point without that."""
        return bool((self.low > self.high).any())

    def within(self, box: Box) -> "Polytope":
        """The part in a box."""
        offsets, size = self.offsets.copy(), 2 * self.dimensions
        offsets[:size:2] = np.minimum(offsets[:size:2], box.high)
        offsets[1:size:2] = np.minimum(offsets[1:size:2], np.negative(box.low))
        return replace(self, offsets=offsets)


def axes(dimensions: int) -> Array:
    """The directions ±e_1, …, ±e_n, in that order."""
    return np.stack([np.eye(dimensions), -np.eye(dimensions)], axis=1).reshape(2 * dimensions, dimensions)


def upper_bound(polytope: Polytope, objective: Weights) -> float:
    """A certified upper bound on objective · x over the polytope, as tight as the multipliers are good."""
    multipliers = _multipliers(polytope, np.array([nearest_float(weight) for weight in objective]))
    used = np.flatnonzero(multipliers)
    factors = exact(multipliers[used].tolist())
    columns = polytope.directions[used].T.tolist()
    rest = tuple(weight - dot(factors, column) for weight, column in zip(objective, columns, strict=True))
    box = polytope.box
    corner = [high if weight > 0 else low for weight, low, high in zip(rest, box.low, box.high, strict=True)]
    if any(weight and abs(bound) == inf for weight, bound in zip(rest, corner, strict=True)):
        return inf
    return rounded_up(dot(factors, polytope.offsets[used].tolist()) + dot(rest, corner))


def _multipliers(polytope: Polytope, objective: Array) -> Array:
    """What each row beyond the box contributes to a good bound; zeros where the numbers are too bad to tell."""
    multipliers = np.zeros(len(polytope.offsets))
    try:
        with np.errstate(all="ignore"):
            basis, weights = _dual_simplex(polytope, objective)
    except np.linalg.LinAlgError:
        return multipliers
    if np.isfinite(weights).all():
        multipliers[basis] = np.maximum(weights, 0.0)
    multipliers[: 2 * polytope.dimensions] = 0.0
    multipliers[~np.isfinite(polytope.offsets)] = 0.0
    return multipliers


def _dual_simplex(polytope: Polytope, objective: Array) -> tuple[list[int], Array]:
    """As many rows as dimensions, and their multipliers.

    It starts from the corner of the box that is best for the objective and swaps in the row that is violated most.
    Multipliers stay non-negative throughout, so it may stop anywhere.
    """
    rows = polytope.directions
    limits = np.where(np.isfinite(polytope.offsets), polytope.offsets, _FAR)
    basis = [2 * index + int(weight < 0.0) for index, weight in enumerate(objective)]
    weights = np.abs(objective)
    for _ in range(_MOST_SWAPS):
        excess = rows @ np.linalg.solve(rows[basis], limits[basis]) - limits
        entering = int(np.argmax(excess))
        if excess[entering] <= _TOLERANCE * (1.0 + abs(limits[entering])):
            break
        change = np.linalg.solve(rows[basis].T, rows[entering])
        usable = change > _TOLERANCE
        if not usable.any():
            break
        leaving = int(np.argmin(np.divide(weights, change, out=np.full_like(change, inf), where=usable)))
        swapped = [*basis[:leaving], entering, *basis[leaving + 1 :]]
        weights = np.asarray(np.linalg.solve(rows[swapped].T, objective), np.float64)
        basis = swapped
    return basis, weights

"""Sets of states given by upper bounds along fixed directions, with bounds that are certified in exact arithmetic.

A linear program finds the multipliers of a bound, and weak duality makes any non-negative multipliers give a
valid one: c · x <= λ · b + max over the box of (c − λ A) · x. That is computed in rationals and rounded up, so a
mistake of the floating-point solver costs tightness, never truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.verify.constraint import Weights, exact

Array = NDArray[np.float64]


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

    def cut(self, weights: Sequence[float], bound: float) -> "Polytope":
        """The part with weights · x <= bound."""
        return Polytope(np.vstack([self.directions, weights]), np.append(self.offsets, bound))

    def tightened(self) -> "Polytope":
        """The same set with the smallest box around it."""
        offsets = self.offsets.copy()
        for row in range(2 * self.dimensions):
            offsets[row] = min(offsets[row], upper_bound(self, exact(self.directions[row])))
        return Polytope(self.directions, offsets)


def axes(dimensions: int) -> Array:
    """The directions ±e_1, …, ±e_n, in that order."""
    return np.repeat(np.eye(dimensions), 2, axis=0) * np.tile([[1.0], [-1.0]], (dimensions, 1))


def upper_bound(polytope: Polytope, objective: Weights) -> float:
    """A certified upper bound on objective · x over the polytope, as tight as the linear program finds it."""
    size = 2 * polytope.dimensions
    rows, limits = polytope.directions[size:], polytope.offsets[size:]
    finite = np.isfinite(limits)
    rows, limits = rows[finite], limits[finite]
    multipliers = _multipliers(polytope, np.array([float(weight) for weight in objective]), rows, limits)
    rest, total = list(objective), Fraction(0)
    for index in np.flatnonzero(multipliers):
        multiplier = Fraction(float(multipliers[index]))
        total += multiplier * Fraction(float(limits[index]))
        rest = [
            entry - multiplier * Fraction(float(row)) for entry, row in zip(rest, rows[index], strict=True)
        ]
    for entry, low, high in zip(rest, polytope.low, polytope.high, strict=True):
        bound = float(high if entry > 0 else low)
        if entry and abs(bound) == inf:
            return inf
        total += entry * Fraction(bound) if entry else 0
    return rounded_up(total)


def rounded_up(value: Fraction) -> float:
    """The nearest float that is not below the value, or the one after it."""
    try:
        nearest = float(value)
    except OverflowError:
        return inf if value > 0 else -1.7e308
    return nearest if Fraction(nearest) >= value else nextafter(nearest, inf)


def _multipliers(polytope: Polytope, objective: Array, rows: Array, limits: Array) -> Array:
    """What each row beyond the box contributes to the best bound; zeros where the solver finds none."""
    if not len(rows) or not objective.any():
        return np.zeros(len(rows))
    from scipy.optimize import linprog

    bounds = np.stack([polytope.low, polytope.high], axis=1)
    try:
        solution: Any = linprog(-objective, A_ub=rows, b_ub=limits, bounds=bounds, method="highs")
    except ValueError:
        return np.zeros(len(rows))
    if solution.status != 0:
        return np.zeros(len(rows))
    return np.maximum(0.0, -np.asarray(solution.ineqlin.marginals))

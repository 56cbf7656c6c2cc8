"""Sound first-order enclosures: a linear form of the state's offsets plus a bounded error.

Over a box of states m + d with |d_j| <= r_j, a quantity is enclosed as c + s · d + e with |e| <= error. Functions
are replaced by their tangent, with Lagrange's remainder in the error; what the computation itself may have
rounded goes there too, so that the enclosure holds over the reals.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, inf, isfinite, sin
from typing import Any

import numpy as np

from diprl.verify.exact.polytope import Array

_ROUNDING = 32 * 2.0**-53
"""Relative to the size of everything added up, more than the few operations of one step below can round away."""
_TINY = 1e-300
_SMALLEST_DIVISOR = 1e-90
"""What may be smaller is not divided by."""
_NEARBY = 1e-9
"""A wall counts as touched this early in an enclosure, since rounding may put a simulated state onto it."""


@dataclass(frozen=True, eq=False)
class Enclosure:
    """One quantity over a box of states."""

    centre: float
    slopes: Array
    error: float
    radii: Array
    """Half-widths of the box, the same for all quantities that meet."""

    def __post_init__(self) -> None:
        """Where the computation leaves the range of floats, nothing is known about the quantity."""
        if not (isfinite(self.centre) and self.error < inf and np.isfinite(self.slopes).all()):
            object.__setattr__(self, "centre", 0.0)
            object.__setattr__(self, "slopes", np.zeros_like(self.slopes))
            object.__setattr__(self, "error", inf)

    def spread(self) -> float:
        """A bound on how far the quantity is from its centre."""
        reach = float(np.sum(np.abs(self.slopes[self.slopes != 0.0]) * self.radii[self.slopes != 0.0]))
        return (reach + self.error) * (1.0 + _ROUNDING) + _TINY

    def range(self) -> tuple[float, float]:
        spread = self.spread()
        slack = _ROUNDING * (abs(self.centre) + spread)
        return self.centre - spread - slack, self.centre + spread + slack

    def size(self) -> float:
        return abs(self.centre) + self.spread()

    def __add__(self, other: "Enclosure | float") -> "Enclosure":
        if not isinstance(other, Enclosure):
            other = self.constant(other)
        error = self.error + other.error + _ROUNDING * (self.size() + other.size())
        return Enclosure(self.centre + other.centre, self.slopes + other.slopes, error, self.radii)

    def __mul__(self, other: "Enclosure | float") -> "Enclosure":
        if not isinstance(other, Enclosure):
            error = abs(other) * (self.error + _ROUNDING * self.size())
            return Enclosure(self.centre * other, self.slopes * other, error, self.radii)
        error = abs(other.centre) * self.error + abs(self.centre) * other.error
        error += self.spread() * other.spread() + _ROUNDING * self.size() * other.size()
        slopes = self.slopes * other.centre + other.slopes * self.centre
        return Enclosure(self.centre * other.centre, slopes, error, self.radii)

    __radd__ = __add__
    __rmul__ = __mul__

    def __sub__(self, other: "Enclosure | float") -> "Enclosure":
        return self + other * -1.0

    def __truediv__(self, other: "Enclosure") -> "Enclosure":
        """Times 1/q of a quantity that is positive over the whole box, with bounds on 2/q³ for the remainder."""
        low, high = other.range()
        if low <= _SMALLEST_DIVISOR:
            return self * other.constant(0.0, inf)
        curvature = 2.0 / (high * high * high), 2.0 / (low * low * low)
        return self * other.tangent(1.0 / other.centre, -1.0 / (other.centre * other.centre), curvature)

    def __pow__(self, two: int) -> "Enclosure":
        """c² + 2c(s·d + e) + (s·d + e)², whose last part lies in [0, spread²]; other powers are not needed."""
        assert two == 2
        return self.tangent(self.centre * self.centre, 2.0 * self.centre, (0.0, 2.0))

    def sin(self) -> "Enclosure":
        """What NumPy calls for the sine of an object, as for the cosine."""
        return self._wave(sin, cos(self.centre))

    def cos(self) -> "Enclosure":
        return self._wave(cos, -sin(self.centre))

    def _wave(self, function: Callable[[float], float], slope: float) -> "Enclosure":
        """Sine or cosine, whose second derivative is their negative."""
        low, high = self.range()
        least, most = -1.0, 1.0
        if isfinite(high - low):  # no value is further from the middle one than the half-width
            middle = function(low / 2.0 + high / 2.0)
            half = (high - low) / 2.0 * (1.0 + _ROUNDING) + _ROUNDING
            least, most = max(-1.0, middle - half), min(1.0, middle + half)
        return self.tangent(function(self.centre), slope, (-most, -least))

    def constant(self, value: float, error: float = 0.0) -> "Enclosure":
        return Enclosure(value, np.zeros_like(self.slopes), error, self.radii)

    def shifted(self, low: float, high: float) -> "Enclosure":
        """The quantity plus something in [low, high]."""
        middle, half = (low + high) / 2.0, (high - low) / 2.0
        error = self.error + half + _ROUNDING * (self.size() + abs(middle) + half)
        return Enclosure(self.centre + middle, self.slopes, error, self.radii)

    def tangent(self, value: float, slope: float, curvature: tuple[float, float]) -> "Enclosure":
        """A function by its value and slope at the centre and bounds on its second derivative over the range."""
        spread = self.spread()
        if spread == inf:
            return self.constant(0.0, inf)
        low, high = (bound * spread * spread / 2 for bound in (min(0.0, curvature[0]), max(0.0, curvature[1])))
        rounding = _ROUNDING * (abs(value) + abs(slope) * spread + abs(low) + abs(high) + 1.0)
        linear = Enclosure(value, slope * self.slopes, abs(slope) * self.error + rounding, self.radii)
        return linear.shifted(low, high)


def clip(value: Any, low: float, high: float) -> Any:
    """Unchanged where the bounds are out of reach, else moved by up to the excess, or what is left of the range."""
    if not isinstance(value, Enclosure):
        return np.clip(value, low, high)
    least, most = value.range()
    down, up = max(0.0, most - high), max(0.0, low - least)
    if not down and not up:
        return value
    least, most = min(max(least, low), high), min(max(most, low), high)
    constant = value.constant(least).shifted(0.0, most - least)
    return min(value.shifted(-down, up), constant, key=lambda form: form.error)


def rest_at_wall(velocity: Any, position: Any, wall: float) -> Any:
    """A velocity that becomes zero where it points into a wall on the left that the position touches."""
    if not isinstance(velocity, Enclosure):
        return np.where((position == wall) & (velocity < 0.0), 0.0, velocity)
    touched = position.range()[0] <= wall + _NEARBY
    return velocity.shifted(0.0, max(0.0, -velocity.range()[0])) if touched else velocity


def coordinates(low: Array, high: Array) -> tuple[list[Enclosure], Array]:
    """Every coordinate of a box as an enclosure, and the point from which offsets are counted.

    A coordinate without bounds is counted from zero.
    """
    bounded = np.isfinite(low) & np.isfinite(high)
    middle = np.where(bounded, low, 0.0) / 2 + np.where(bounded, high, 0.0) / 2
    radii = np.nextafter(np.maximum(high - middle, middle - low), inf)
    units = np.eye(len(low))
    forms = [Enclosure(float(m), unit, 0.0, radii) for m, unit in zip(middle, units, strict=True)]
    return forms, middle

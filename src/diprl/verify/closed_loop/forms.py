"""First-order enclosures of many sets at once: a linear form of noise symbols in [−1, 1], plus a bounded error.

Functions are replaced by their tangent, with Lagrange's remainder in the error. What floating-point arithmetic rounds
away here is left out: these forms only look for a proof, and the checker, which rounds outwards, decides.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.program.formula import NUMPY
from diprl.verify.plants.flow import ARITHMETIC, Functions, Series

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Form:
    """One quantity over each of many sets: centre + slopes · symbols + error."""

    centre: Array
    """[set]"""
    slopes: Array
    """[set, symbol]"""
    error: Array
    """[set]"""
    __array_ufunc__ = None  # so that an array or a number on the left leaves the operation to this class

    @property
    def spread(self) -> Array:
        return np.abs(self.slopes).sum(axis=1) + self.error

    @property
    def low(self) -> Array:
        return self.centre - self.spread

    @property
    def high(self) -> Array:
        return self.centre + self.spread

    @property
    def size(self) -> Array:
        return np.abs(self.centre) + self.spread

    def __add__(self, other: Any) -> "Form":
        if isinstance(other, Series):  # which knows how to deal with forms
            return NotImplemented
        if not isinstance(other, Form):
            return Form(self.centre + other, self.slopes, self.error)
        return Form(self.centre + other.centre, self.slopes + other.slopes, self.error + other.error)

    def __mul__(self, other: Any) -> "Form":
        if isinstance(other, Series):
            return NotImplemented
        if not isinstance(other, Form):
            factor = np.asarray(other)
            return Form(self.centre * factor, self.slopes * factor[..., None], self.error * np.abs(factor))
        slopes = self.slopes * other.centre[:, None] + other.slopes * self.centre[:, None]
        error = np.abs(other.centre) * self.error + np.abs(self.centre) * other.error + self.spread * other.spread
        return Form(self.centre * other.centre, slopes, error)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> "Form":
        return Form(-self.centre, -self.slopes, self.error)

    def __sub__(self, other: Any) -> "Form":
        return self + -other

    def __rsub__(self, other: Any) -> "Form":
        return -self + other

    def __truediv__(self, other: Any) -> "Form":
        if isinstance(other, Series):
            return NotImplemented
        return self * (_reciprocal(other) if isinstance(other, Form) else 1.0 / np.asarray(other))

    def __rtruediv__(self, other: Any) -> "Form":
        return _reciprocal(self) * other

    def __pow__(self, power: float) -> "Form":
        square = self.tangent(self.centre**2, 2.0 * self.centre, 0.0, 2.0)
        factors = [*([self] if int(power) % 2 else []), *[square] * (int(power) // 2)]
        return reduce(operator.mul, factors)

    def shifted(self, low: Any, high: Any) -> "Form":
        """The quantity plus something in [low, high]."""
        return Form(self.centre + (low + high) / 2.0, self.slopes, self.error + (high - low) / 2.0)

    def tangent(self, value: Any, slope: Any, least: Any, most: Any) -> "Form":
        """A function by its value and slope at the centre and bounds on its second derivative over the range."""
        slope = np.broadcast_to(slope, self.centre.shape)
        square = self.spread**2 / 2.0
        linear = Form(value + 0.0 * self.centre, self.slopes * slope[:, None], self.error * np.abs(slope))
        return linear.shifted(np.minimum(least, 0.0) * square, np.maximum(most, 0.0) * square)

    def constant(self, low: Any, high: Any) -> "Form":
        """Something in [low, high]."""
        zero = np.zeros_like(self.centre)
        return Form(zero, np.zeros_like(self.slopes), zero).shifted(low, high)

    def chosen(self, mask: Any, other: "Form") -> "Form":
        """This form where the mask holds, the other elsewhere."""
        slopes = np.where(mask[:, None], self.slopes, other.slopes)
        return Form(np.where(mask, self.centre, other.centre), slopes, np.where(mask, self.error, other.error))


def _reciprocal(form: Form) -> Form:
    low, high = form.low, form.high
    around = (low <= 0.0) & (high >= 0.0)
    centre = np.where(around, 1.0, form.centre)
    low, high = np.where(around, 1.0, low), np.where(around, 1.0, high)
    found = form.tangent(
        1.0 / centre, -1.0 / centre**2, np.minimum(2.0 / low**3, 2.0 / high**3), np.maximum(2.0 / low**3, 2.0 / high**3)
    )
    return form.constant(-np.inf, np.inf).chosen(around, found) if around.any() else found


def _wave(function: Callable[[Array], Array], slope: Callable[[Array], Array]) -> Callable[[Form], Form]:
    def enclosed(form: Form) -> Form:
        middle, spread = function(form.centre), form.spread
        least, most = np.maximum(-1.0, middle - spread), np.minimum(1.0, middle + spread)
        return form.tangent(middle, slope(form.centre), -most, -least)

    return enclosed


def positive_part(form: Form) -> Form:
    """max(x, 0): x itself, zero, or the line above both with what lies below it."""
    low, high = form.low, form.high
    share = np.clip(np.divide(high, high - low, out=(low >= 0.0) * 1.0, where=(low < 0.0) & (high > low)), 0.0, 1.0)
    return (form * share).shifted(0.0, np.maximum(-low * share, 0.0))


def clip(form: Any, low: Any, high: Any) -> Any:
    """Limited to [low, high], which may be infinite."""
    found = form
    if np.isfinite(low):
        found = positive_part(found - low) + low
    if np.isfinite(high):
        found = -positive_part(-found + high) + high
    if not (np.isfinite(low) and np.isfinite(high)):
        return found
    flat = form.constant(np.clip(form.low, low, high), np.clip(form.high, low, high))
    return flat.chosen(flat.spread < 0.9 * found.spread, found)


def _where(difference: Any, above: Any, other: Any) -> Any:
    if not isinstance(difference, Form):
        return above if difference > 0.0 else other
    above, other = (one if isinstance(one, Form) else difference.constant(one, one) for one in (above, other))
    change = other - above
    both = above.shifted(np.minimum(change.low, 0.0), np.maximum(change.high, 0.0))
    return above.chosen(difference.low > 0.0, other.chosen(difference.high <= 0.0, both))


def _lifted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        return function(*arguments) if any(isinstance(one, Form) for one in arguments) else NUMPY[name](*arguments)

    return call


FORMS: Functions = ARITHMETIC | {
    name: _lifted(name, function)
    for name, function in {
        "sin": _wave(np.sin, np.cos),
        "cos": _wave(np.cos, lambda value: -np.sin(value)),
        "abs": lambda value: positive_part(value) + positive_part(-value),
        "max": lambda first, second: positive_part(first - second) + second,
        "min": lambda first, second: first - positive_part(first - second),
        "clip": clip,
        "where": _where,
    }.items()
}

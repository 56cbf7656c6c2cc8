"""First-order enclosures of many sets at once: a linear form of noise symbols in [−1, 1], plus a bounded error.

Functions are replaced by their tangent, with Lagrange's remainder in the error. What floating-point arithmetic rounds
away here is left out: these forms only look for a proof, and the checker, which rounds outwards, decides.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.program.formula import NUMBERS, Functions

Array = NDArray[np.float64]
_LARGEST_POWER = 16


@dataclass(frozen=True, eq=False)
class Form:
    """Quantities over each of many sets: centre + slopes · symbols + error."""

    centre: Array
    """[…, set]"""
    slopes: Array
    """[…, set, symbol]"""
    error: Array
    """[…, set]"""
    __array_ufunc__ = None  # so that an array or a number on the left leaves the operation to this class

    def __iter__(self) -> Iterator["Form"]:
        return (self[index] for index in range(len(self.centre)))

    def __getitem__(self, index: Any) -> "Form":
        return Form(self.centre[index], self.slopes[index], self.error[index])

    @property
    def spread(self) -> Array:
        return np.abs(self.slopes).sum(axis=-1) + self.error

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
        if not isinstance(other, Form):
            return Form(self.centre + other, self.slopes, self.error)
        return Form(self.centre + other.centre, self.slopes + other.slopes, self.error + other.error)

    def __mul__(self, other: Any) -> "Form":
        if not isinstance(other, Form):
            factor = np.asarray(other)
            return Form(self.centre * factor, self.slopes * factor[..., None], self.error * np.abs(factor))
        slopes = self.slopes * other.centre[..., None] + other.slopes * self.centre[..., None]
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
        return self * (_reciprocal(other) if isinstance(other, Form) else 1.0 / np.asarray(other))

    def __rtruediv__(self, other: Any) -> "Form":
        return _reciprocal(self) * other

    def __pow__(self, power: Any) -> "Form":
        if isinstance(power, Form) or power not in range(1, _LARGEST_POWER + 1):
            return self.between(-np.inf, np.inf)
        square = self.tangent(self.centre**2, 2.0 * self.centre, 0.0, 2.0)
        return reduce(operator.mul, [self] * (int(power) % 2) + [square] * (int(power) // 2))

    def shifted(self, low: Any, high: Any) -> "Form":
        """The quantity plus something in [low, high]."""
        return Form(self.centre + (low + high) / 2.0, self.slopes, self.error + (high - low) / 2.0)

    def loosened(self, slack: Any) -> "Form":
        return Form(self.centre, self.slopes, self.error + slack)

    def between(self, low: Any, high: Any) -> "Form":
        """Something in [low, high]."""
        return (0.0 * self).shifted(low, high)

    def tangent(self, value: Any, slope: Any, least: Any, most: Any) -> "Form":
        """A function by its value and slope at the centre and bounds on its second derivative over the range."""
        square = self.spread**2 / 2.0
        line = Form(value + 0.0 * self.centre, self.slopes * slope[..., None], self.error * np.abs(slope))
        return line.shifted(np.minimum(least, 0.0) * square, np.maximum(most, 0.0) * square)


def gathered(forms: Sequence[Form], join: Callable[..., Any] = np.stack, axis: int = 0) -> Form:
    """Forms put together: stacked along a new axis, or concatenated along one that there is."""
    columns = zip(*((form.centre, form.slopes, form.error) for form in forms), strict=True)
    return Form(*(join(column, axis=axis) for column in columns))


def _reciprocal(form: Form) -> Form:
    """One over it; not a number where that may be zero."""
    inverse = np.where((form.low > 0.0) | (form.high < 0.0), 1.0 / form.centre, np.nan)
    bends = np.stack([2.0 / form.low**3, 2.0 / form.high**3])
    return form.tangent(inverse, -(inverse**2), bends.min(axis=0), bends.max(axis=0))


def _wave(function: Callable[[Array], Array], slope: Callable[[Array], Array]) -> Callable[[Form], Form]:
    def enclosed(form: Form) -> Form:
        middle, spread = function(form.centre), form.spread
        least, most = np.maximum(-1.0, middle - spread), np.minimum(1.0, middle + spread)
        return form.tangent(middle, slope(form.centre), -most, -least)

    return enclosed


def _positive_part(form: Form) -> Form:
    """max(x, 0): x itself, zero, or the line above both with what lies below it."""
    low, high = form.low, form.high
    share = np.clip(np.divide(high, high - low, out=(low >= 0.0) * 1.0, where=(low < 0.0) & (high > low)), 0.0, 1.0)
    return (form * share).shifted(0.0, np.maximum(-low * share, 0.0))


def clip(form: Any, low: Any, high: Any) -> Any:
    """Limited to [low, high], which may be infinite where they are numbers."""
    found = FORMS["max"](form, low) if isinstance(low, Form) or low > -np.inf else form
    return FORMS["min"](found, high) if isinstance(high, Form) or high < np.inf else found


def _where(difference: Any, above: Any, other: Any) -> Any:
    if not isinstance(difference, Form):
        return above if difference > 0.0 else other
    return above + (other - above) * difference.between((difference.high <= 0.0) * 1.0, (difference.low <= 0.0) * 1.0)


def _lifted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of forms, or of numbers where there is no form."""

    def call(*arguments: Any) -> Any:
        return function(*arguments) if any(isinstance(one, Form) for one in arguments) else NUMBERS[name](*arguments)

    return call


_FUNCTIONS: Functions = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": lambda base, power: base**power if isinstance(base, Form) else power.between(-np.inf, np.inf),
    "negative": operator.neg,
    "sin": _wave(np.sin, np.cos),
    "cos": _wave(np.cos, lambda value: -np.sin(value)),
    "abs": lambda value: _positive_part(value) + _positive_part(-value),
    "max": lambda first, second: _positive_part(first - second) + second,
    "min": lambda first, second: first - _positive_part(first - second),
    "clip": clip,
    "where": _where,
}
FORMS: Functions = {name: _lifted(name, function) for name, function in _FUNCTIONS.items()}
"""What formulas in proofs may use."""

"""What floating-point arithmetic does to exact numbers: the one place for margins and conversions."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf, nextafter

import numpy as np

from diprl.program.ast import Blend, Node, flatten, number_rows
from diprl.verify.exact.linear import Box, State

Errors = Mapping[tuple[tuple[float, ...], float], Fraction]
"""By how much the values of linear forms, given by their weights and bias, may be off."""
EXACT: Errors = {}
"""Nothing is off."""

LARGEST = 1.7e308
"""Stands for rationals that are too large for a float."""
_UNIT = Fraction(1, 2**53)
_SMALLEST = Fraction(1, 2**1074)
_OVERFLOW = Fraction(10) ** 280
"""Sums beyond this may exceed the range of 64-bit floats."""
_UNIT_32 = Fraction(1, 2**24)
_SMALLEST_32 = Fraction(1, 2**149)
_OVERFLOW_32 = 1e38


def rounding_error(weights: Sequence[float], bias: float, box: Box, observed: bool = False) -> Fraction | None:
    """By how much a linear form may be off in float64 over a box.

    Each of at most n products and n sums rounds once. Where values are `observed`, they are also rounded to
    float32 before. None where there is no bound.
    """
    rows = zip(weights, box.low, box.high, strict=True)
    read = [(abs(Fraction(weight)), max(abs(least), abs(most))) for weight, least, most in rows if weight]
    if any(size > (_OVERFLOW_32 if observed else LARGEST) for _, size in read):
        return None
    total = sum((weight * Fraction(size) for weight, size in read), abs(Fraction(bias)))
    if total > _OVERFLOW:
        return None
    operations = 2 * len(weights) + 1
    error = 2 * operations * (total * _UNIT + _SMALLEST)
    if observed:
        error += sum(weight * (Fraction(size) * _UNIT_32 + _SMALLEST_32) for weight, size in read)
    return error


def errors_in(box: Box, root: Node) -> Errors | None:
    """The errors of a program's conditions and outputs over a box; None where one has no bound."""
    rows = [row for item in flatten(root) if not isinstance(item, Blend) for row in number_rows(item)]
    errors = {(row[:-1], row[-1]): rounding_error(row[:-1], row[-1], box) for row in rows}
    known = {form: error for form, error in errors.items() if error is not None}
    return known if len(known) == len(errors) else None


def observed(state: State) -> State:
    """What an environment shows of a state: 32-bit floats."""
    with np.errstate(over="ignore"):
        return tuple(np.asarray(state, np.float32).astype(float).tolist())


def nearest_float(value: Fraction) -> float:
    """The nearest finite float."""
    try:
        return float(value)
    except OverflowError:
        return LARGEST if value > 0 else -LARGEST


def rounded_up(value: Fraction) -> float:
    """The nearest float that is not below the value, or the one after it."""
    nearest = nearest_float(value)
    if Fraction(nearest) >= value:
        return nearest
    return nextafter(nearest, inf) if nearest < LARGEST else inf

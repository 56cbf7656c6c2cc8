"""What floating-point arithmetic does to exact numbers: the one place for margins and conversions."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isfinite
from typing import NamedTuple

import numpy as np

from diprl.program import Program
from diprl.program.ast import Blend, flatten, number_rows
from diprl.program.signature import Continuous
from diprl.verify.exact.linear import Box, State

Errors = Mapping[tuple[tuple[float, ...], float], Fraction]
"""By how much the values of linear forms, given by their weights and bias, may be off."""
EXACT: Errors = {}
"""Nothing is off."""

LARGEST = 1.7e308
"""Stands for rationals that are too large for a float."""


class Arithmetic(NamedTuple):
    """What floats of one kind do: relative and absolute rounding, and sums beyond which there may be no number."""

    unit: Fraction
    smallest: Fraction
    overflow: Fraction


ARITHMETICS = {
    "float64": Arithmetic(Fraction(1, 2**53), Fraction(1, 2**1074), Fraction(10) ** 280),
    "float32": Arithmetic(Fraction(1, 2**24), Fraction(1, 2**149), Fraction(10) ** 37),
}


def rounding_error(weights: Sequence[float], bias: float, box: Box, arithmetic: str) -> Fraction | None:
    """By how much a linear form may be off over a box; None where there is no bound.

    Each number is rounded, and so is each of at most n products and n sums.
    """
    unit, smallest, overflow = ARITHMETICS[arithmetic]
    rows = zip(weights, box.low, box.high, strict=True)
    read = [(abs(Fraction(weight)), max(abs(least), abs(most))) for weight, least, most in rows if weight]
    if any(size > LARGEST for _, size in read):
        return None
    total = sum((weight * Fraction(size) for weight, size in read), abs(Fraction(bias)))
    sizes = sum((weight + Fraction(size) for weight, size in read), abs(Fraction(bias)))
    if max(total, sizes) > overflow:
        return None
    operations = 4 * len(weights) + 4
    return operations * (total * unit + (1 + sizes) * smallest)


def errors_in(box: Box, program: Program, arithmetic: str) -> Errors | None:
    """The errors of a program's conditions and outputs over a box; None where one has no bound."""
    rows = [row for item in flatten(program.root) if not isinstance(item, Blend) for row in number_rows(item)]
    errors = {(row[:-1], row[-1]): rounding_error(row[:-1], row[-1], box, arithmetic) for row in rows}
    actions = program.signature.actions
    sides = (*actions.low, *actions.high) if isinstance(actions, Continuous) else ()
    clipping = max((abs(Fraction(side)) for side in sides if isfinite(side)), default=0) * ARITHMETICS[arithmetic].unit
    known = {form: error + clipping for form, error in errors.items() if error is not None}
    return known if len(known) == len(errors) else None


def observed(state: State) -> State:
    """What an environment shows of a state: 32-bit floats."""
    with np.errstate(over="ignore"):
        return tuple(np.asarray(state, np.float32).astype(float).tolist())


def in_single(state: State) -> State:
    """The same as 32-bit numbers, with which the interpreter calculates in 32 bits."""
    return tuple(np.asarray(observed(state)).astype(np.float32))


def nearest_float(value: Fraction) -> float:
    """The nearest finite float."""
    try:
        return float(value)
    except OverflowError:
        return LARGEST if value > 0 else -LARGEST

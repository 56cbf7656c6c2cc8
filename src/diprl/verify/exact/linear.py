"""Linear inequalities over exact rationals, boxes of states, and what floating-point arithmetic does to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.program.ast import Blend, Condition, flatten, number_rows
from diprl.program.signature import Continuous, Signature
from diprl.program.text_format import format_linear

Weights = tuple[Fraction, ...]
Point = Sequence[Fraction | float]
State = tuple[float, ...]
Place = tuple[tuple[int, int], ...]
"""Which variable of a question each feature of a state is, with 1, or −1 where its sign is changed."""
Errors = Mapping[tuple[tuple[float, ...], float], Fraction]
"""By how much the values of linear forms, given by their weights and bias, may be off."""
EXACT: Errors = {}
"""Nothing is off."""
LARGEST = 1.7e308
"""Stands for rationals that are too large for a float."""


@dataclass(frozen=True)
class Constraint:
    """weights · point + bias > 0, or >= 0 where it is not strict."""

    weights: Weights
    bias: Fraction
    strict: bool
    label: str = field(default="", compare=False)
    """How its author wrote it."""

    def value(self, point: Point) -> Fraction:
        return dot(self.weights, point) + self.bias

    def holds(self, point: Point) -> bool:
        value = self.value(point)
        return value > 0 or (value == 0 and not self.strict)

    def negated(self) -> "Constraint":
        return Constraint(tuple(-weight for weight in self.weights), -self.bias, not self.strict)

    def at(self, place: Place) -> "Constraint":
        """The inequality over a question's variables."""
        return Constraint(placed(self.weights, place), self.bias, self.strict)

    def text(self, names: Sequence[str]) -> str:
        """As its author wrote it, or else as program text would write it."""
        if self.label:
            return self.label
        form = format_linear([float(weight) for weight in self.weights], float(self.bias), names)
        return f"{form} {'>' if self.strict else '>='} 0"


@dataclass(frozen=True)
class Box:
    """An interval per feature, in the signature's order; bounds may be infinite."""

    low: State
    high: State

    def contains(self, point: Sequence[float]) -> bool:
        return all(low <= value <= high for low, value, high in zip(self.low, point, self.high, strict=True))

    def clamp(self, point: Sequence[float]) -> State:
        rows = zip(point, self.low, self.high, strict=True)
        return tuple(min(max(value, low), high) for value, low, high in rows)

    def constraints(self) -> list[Constraint]:
        found = []
        for index, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            unit = tuple(Fraction(int(index == other)) for other in range(len(self.low)))
            if low > -inf:
                found.append(Constraint(unit, -Fraction(low), strict=False))
            if high < inf:
                found.append(Constraint(tuple(-entry for entry in unit), Fraction(high), strict=False))
        return found

    def samples(self, count: int) -> NDArray[np.float64]:
        """Random states of a finite box, one per row, the same ones each time."""
        share = np.random.default_rng(0).uniform(size=(count, len(self.low)))
        return np.clip(share * self.high + (1.0 - share) * self.low, self.low, self.high)

    def text(self, names: Sequence[str]) -> str:
        rows = zip(names, self.low, self.high, strict=True)
        sides = [f"{name} in [{low:g}, {high:g}]" for name, low, high in rows if low > -inf or high < inf]
        return ", ".join(sides) or "all states"


def bounds_of(signature: Signature) -> Box:
    """What the environment promises about the features."""
    features = signature.features
    return Box(tuple(feature.low for feature in features), tuple(feature.high for feature in features))


def placed(weights: Weights, place: Place) -> Weights:
    """Weights of features as weights of variables."""
    found = [Fraction(0)] * (1 + max(variable for variable, _ in place))
    for (variable, sign), weight in zip(place, weights, strict=True):
        found[variable] += sign * weight
    return tuple(found)


def dot(weights: Weights, values: Point) -> Fraction:
    """The exact sum of products; where a weight is zero, the value may be infinite."""
    total = Fraction(0)
    for weight, value in zip(weights, values, strict=True):
        if weight and value:
            total += weight * Fraction(value)
    return total


def exact(values: Sequence[float]) -> Weights:
    """The rationals that 64-bit floats stand for."""
    return tuple(Fraction(value) for value in values)


def of_condition(condition: Condition, holds: bool = True) -> Constraint:
    """What is known where a condition of a program holds, or where it does not."""
    constraint = Constraint(exact(condition.weights), Fraction(condition.bias), strict=True)
    return constraint if holds else constraint.negated()


def all_text(constraints: Sequence[Constraint], names: Sequence[str]) -> str:
    """Inequalities that all hold, in words."""
    return " and ".join(constraint.text(names) for constraint in constraints)


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
    try:
        return float(value)
    except OverflowError:
        return LARGEST if value > 0 else -LARGEST

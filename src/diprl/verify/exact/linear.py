"""Linear inequalities over exact rationals, boxes of states, and where among a question's variables a state stands."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from diprl.program.ast import Condition
from diprl.program.signature import Signature
from diprl.program.text_format import format_linear

Weights = tuple[Fraction, ...]
Point = Sequence[Fraction | float]
State = tuple[float, ...]


Place = tuple[tuple[int, int], ...]
"""Which variable of a question each feature of a state is, with 1, or −1 where its sign is changed."""


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

    @property
    def finite(self) -> bool:
        return all(map(isfinite, (*self.low, *self.high)))

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

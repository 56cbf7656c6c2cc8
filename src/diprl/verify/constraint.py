"""Linear inequalities and boxes over exact rationals: what every exact question is made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isfinite

from diprl.program.ast import Condition
from diprl.program.signature import Signature
from diprl.program.text_format import format_linear
from diprl.program.tokens import Tokens, parse_linear

Weights = tuple[Fraction, ...]
Point = Sequence[Fraction | float]


@dataclass(frozen=True)
class Constraint:
    """weights · point + bias > 0, or >= 0 where it is not strict."""

    weights: Weights
    bias: Fraction
    strict: bool
    label: str = field(default="", compare=False)
    """How its author wrote it."""

    def value(self, point: Point) -> Fraction:
        terms = zip(self.weights, point, strict=True)
        return self.bias + sum(weight * Fraction(value) for weight, value in terms if weight)

    def holds(self, point: Point) -> bool:
        value = self.value(point)
        return value > 0 or (value == 0 and not self.strict)

    def negated(self) -> "Constraint":
        return Constraint(tuple(-weight for weight in self.weights), -self.bias, not self.strict)

    def closed(self) -> "Constraint":
        """The same inequality with its boundary."""
        return Constraint(self.weights, self.bias, strict=False)

    def open(self) -> "Constraint":
        """The same inequality without its boundary."""
        return Constraint(self.weights, self.bias, strict=True)

    def text(self, names: Sequence[str]) -> str:
        """As its author wrote it, or else as program text would write it."""
        if self.label:
            return self.label
        form = format_linear([float(weight) for weight in self.weights], float(self.bias), names)
        return f"{form} {'>' if self.strict else '>='} 0"


def exact(values: Sequence[float]) -> Weights:
    """The rationals that 64-bit floats stand for."""
    return tuple(Fraction(value) for value in values)


def of_condition(condition: Condition, holds: bool = True) -> Constraint:
    """What is known where a condition of a program holds, or where it does not."""
    constraint = Constraint(exact(condition.weights), Fraction(condition.bias), strict=True)
    return constraint if holds else constraint.negated()


def parse_constraint(text: str, names: Sequence[str], kind: str, line: int, column: int = 1) -> Constraint:
    """Read `2*x - y > 0.5`, with >, <, >= or <=; `kind` says in errors what the names are."""
    tokens = Tokens(text, line, column)
    left = parse_linear(tokens, names, kind)
    comparison = tokens.accept(">", "<", ">=", "<=")
    if comparison is None:
        raise tokens.current.error("'>', '<', '>=' or '<='")
    right = parse_linear(tokens, names, kind)
    tokens.expect_end()
    greater, smaller = (left, right) if comparison.text[0] == ">" else (right, left)
    greater.add(smaller, -1.0)
    strict = len(comparison.text) == 1
    return Constraint(exact(greater.weights(names)), Fraction(greater.constant), strict, text)


@dataclass(frozen=True)
class Box:
    """An interval per feature, in the signature's order; bounds may be infinite."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def finite(self) -> bool:
        return all(map(isfinite, (*self.low, *self.high)))

    def contains(self, point: Sequence[float]) -> bool:
        return all(low <= value <= high for low, value, high in zip(self.low, point, self.high, strict=True))

    def clamp(self, point: Sequence[float]) -> tuple[float, ...]:
        rows = zip(point, self.low, self.high, strict=True)
        return tuple(min(max(value, low), high) for value, low, high in rows)

    def within(self, other: "Box") -> "Box":
        """The part of this box that lies in another."""
        return Box(tuple(map(max, self.low, other.low)), tuple(map(min, self.high, other.high)))

    def constraints(self) -> list[Constraint]:
        found = []
        for index, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            unit = tuple(Fraction(int(index == other)) for other in range(len(self.low)))
            if low > -inf:
                found.append(Constraint(unit, -Fraction(low), strict=False))
            if high < inf:
                found.append(Constraint(tuple(-entry for entry in unit), Fraction(high), strict=False))
        return found

    def text(self, names: Sequence[str]) -> str:
        rows = zip(names, self.low, self.high, strict=True)
        sides = [f"{name} in [{low:g}, {high:g}]" for name, low, high in rows if low > -inf or high < inf]
        return ", ".join(sides) or "all states"


def bounds_of(signature: Signature) -> Box:
    """What the environment promises about the features."""
    return Box(
        tuple(feature.low for feature in signature.features),
        tuple(feature.high for feature in signature.features),
    )

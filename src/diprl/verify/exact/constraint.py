"""Linear inequalities over exact rationals: what every exact question is made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from diprl.program.ast import Condition
from diprl.program.linear_text import format_linear

Weights = tuple[Fraction, ...]
Point = Sequence[Fraction | float]
Place = Callable[[Weights], Weights]
"""Where a program is evaluated: turns weights of features into weights of a question's variables."""


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

    def at(self, place: Place, looser: Fraction = Fraction(0)) -> "Constraint":
        """The inequality over a question's variables, loosened by a margin."""
        return Constraint(place(self.weights), self.bias + looser, self.strict)

    def text(self, names: Sequence[str]) -> str:
        """As its author wrote it, or else as program text would write it."""
        if self.label:
            return self.label
        form = format_linear([float(weight) for weight in self.weights], float(self.bias), names)
        return f"{form} {'>' if self.strict else '>='} 0"


def same(weights: Weights) -> Weights:
    """The place where the features are the question's variables."""
    return weights


def padded(extra: int) -> Place:
    """The place where the features are the first of the question's variables."""
    return lambda weights: (*weights, *[Fraction(0)] * extra)


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

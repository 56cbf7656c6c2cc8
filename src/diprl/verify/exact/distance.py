"""Exact distances, in scaled units, from a state to the nearest one with some property."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from diprl.verify.exact.linear import Box, Constraint, Place, State, Weights

_FURTHER = Fraction(1001, 1000)
"""Where the nearest state lies on a threshold, one is shown that is this much further away."""


@dataclass(frozen=True)
class Ruler:
    """Measures from one state: the largest or the sum of the features' changes, each in its own unit.

    Behind the features, a question's variables are the distance itself, or one per feature that add up to it.
    """

    origin: State
    scales: State
    norm: str = "max"
    """The largest change, "max", or the "sum"."""

    @property
    def place(self) -> Place:
        """Where the features stand among the variables."""
        return Place.first(len(self.origin), 1 if self.norm == "max" else len(self.origin))

    @property
    def length(self) -> Weights:
        """The distance as a linear form of the variables."""
        size = len(self.origin)
        return (Fraction(0),) * size + (Fraction(1),) * (self.place.variables - size)

    def box(self, box: Box) -> Box:
        """A box of states, with distances of any size."""
        extra = self.place.variables - len(self.origin)
        return Box((*box.low, *[-inf] * extra), (*box.high, *[inf] * extra))

    def completed(self, values: Sequence[float]) -> Sequence[Fraction | float]:
        """The values of the features, followed by the exact distances that belong to them."""
        state = values[: len(self.origin)]
        rows = zip(state, self.origin, self.scales, strict=True)
        changes = [abs(Fraction(value) - Fraction(start)) / Fraction(scale) for value, start, scale in rows]
        return [*state, max(changes)] if self.norm == "max" else [*state, *changes]

    def constraints(self) -> list[Constraint]:
        """What makes the further variables distances."""
        given, size = [], len(self.origin)
        for feature, (start, scale) in enumerate(zip(self.origin, self.scales, strict=True)):
            variable = size + (feature if self.norm == "sum" else 0)
            for sign in (1, -1):
                weights = [Fraction(0)] * self.place.variables
                weights[feature], weights[variable] = Fraction(-sign), Fraction(scale)
                given.append(Constraint(tuple(weights), sign * Fraction(start), strict=False))
        return given

    def within(self, radius: Fraction, strict: bool = False) -> Constraint:
        return Constraint(tuple(-entry for entry in self.length), radius, strict)


def just_beyond(radius: Fraction) -> Fraction:
    """A radius within which a state can be shown that lies no closer than the nearest one."""
    return max(radius * _FURTHER, Fraction(1, 10**6))

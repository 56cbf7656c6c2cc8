"""Exact distances, in scaled units, from a state to the nearest one with some property."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from diprl.verify.deadline import Deadline, Undecided
from diprl.verify.exact.box import Box, State
from diprl.verify.exact.constraint import Constraint, Place, Weights, padded
from diprl.verify.exact.question import Question

Norm = Literal["max", "sum"]
Visit = Callable[[Question], Iterator[None]]
"""Makes the question ask for one part after the other of what is looked for, yielding at each."""

_FURTHER = Fraction(1001, 1000)
"""Where the nearest state lies on a threshold, one is shown that is this much further away."""


@dataclass(frozen=True)
class Ruler:
    """Measures from one state: the largest or the sum of the features' changes, each in its own unit."""

    origin: State
    scales: State
    norm: Norm = "max"

    @property
    def _extra(self) -> int:
        """Variables beside the features: the distance itself, or one per feature that add up to it."""
        return 1 if self.norm == "max" else len(self.origin)

    @property
    def place(self) -> Place:
        """Where the features stand among the variables."""
        return padded(self._extra)

    @property
    def _length(self) -> Weights:
        """The distance as a linear form."""
        return (Fraction(0),) * len(self.origin) + (Fraction(1),) * self._extra

    def measure(self, state: State) -> Fraction:
        """The exact distance of a state."""
        rows = zip(state, self.origin, self.scales, strict=True)
        changes = [abs(Fraction(value) - Fraction(start)) / Fraction(scale) for value, start, scale in rows]
        return max(changes) if self.norm == "max" else sum(changes, Fraction(0))

    def question(
        self, box: Box, deadline: Deadline, within: Fraction | None = None, strict: bool = False
    ) -> Question:
        """A question about the states of a box and their distance, perhaps only about those within a radius."""
        given = [constraint.at(self.place) for constraint in box.constraints()]
        size = len(self.origin)
        for feature, (start, scale) in enumerate(zip(self.origin, self.scales, strict=True)):
            variable = size + (feature if self.norm == "sum" else 0)
            for sign in (1, -1):
                weights = [Fraction(0)] * (size + self._extra)
                weights[feature], weights[variable] = Fraction(-sign), Fraction(scale)
                given.append(Constraint(tuple(weights), sign * Fraction(start), strict=False))
        question = Question(size + self._extra, deadline, given)
        if within is not None:
            question.push(Constraint(tuple(-entry for entry in self._length), within, strict))
        return question

    def nearest(self, box: Box, deadline: Deadline, visit: Visit) -> Fraction | None:
        """The exact infimum of the distance over everything visited, or None where nothing is.

        The optimum is not taken on trust: a second question finds nothing that is closer.
        """
        question = self.question(box, deadline)
        found = [question.least(self._length) for _ in visit(question)]
        if not found:
            return None
        if None in found:
            raise Undecided("z3 finds no least distance, though distances are never negative")
        radius = min(value for value in found if value is not None)
        if any(True for _ in visit(self.question(box, deadline, radius, strict=True))):
            raise Undecided("the optimum that z3 reports is not one")
        return radius


def just_beyond(radius: Fraction) -> Fraction:
    """A radius within which a state can be shown that lies no closer than the nearest one."""
    return max(radius * _FURTHER, Fraction(1, 10**9))

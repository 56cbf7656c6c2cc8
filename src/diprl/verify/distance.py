"""Exact distances, in scaled units, from a state to the nearest one with some property."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from diprl.verify.cells import Place, padded, placed
from diprl.verify.constraint import Box, Constraint, Weights
from diprl.verify.context import State
from diprl.verify.question import Deadline, Question, Undecided
from diprl.verify.spec import Norm

Visit = Callable[[Question, Place], Iterator[None]]
"""Makes the question ask for one part after the other of what is looked for, yielding at each."""


@dataclass(frozen=True)
class Ruler:
    """Measures from one state: the largest or the sum of the features' changes, each in its own unit."""

    origin: State
    scales: State
    norm: Norm = "max"

    @property
    def extra(self) -> int:
        """Variables beside the features: the distance itself, or one per feature that add up to it."""
        return 1 if self.norm == "max" else len(self.origin)

    @property
    def length(self) -> Weights:
        """The distance as a linear form."""
        return (Fraction(0),) * len(self.origin) + (Fraction(1),) * self.extra

    def measure(self, state: State) -> Fraction:
        """The exact distance of a state."""
        rows = zip(state, self.origin, self.scales, strict=True)
        changes = [abs(Fraction(value) - Fraction(start)) / Fraction(scale) for value, start, scale in rows]
        return max(changes) if self.norm == "max" else sum(changes, Fraction(0))

    def question(self, box: Box, deadline: Deadline) -> Question:
        """A question about the states of a box and their distance."""
        place = padded(self.extra)
        given = [placed(constraint, place) for constraint in box.constraints()]
        size = len(self.origin)
        for feature, (start, scale) in enumerate(zip(self.origin, self.scales, strict=True)):
            variable = size + (feature if self.norm == "sum" else 0)
            for sign in (1, -1):
                weights = [Fraction(0)] * (size + self.extra)
                weights[feature], weights[variable] = Fraction(-sign), Fraction(scale)
                given.append(Constraint(tuple(weights), sign * Fraction(start), strict=False))
        return Question(size + self.extra, deadline, given)

    def closer_than(self, radius: Fraction, strict: bool = True) -> Constraint:
        return Constraint(tuple(-entry for entry in self.length), radius, strict)


def nearest(ruler: Ruler, box: Box, deadline: Deadline, visit: Visit) -> Fraction | None:
    """The exact infimum of the distance over everything visited, or None where nothing is.

    The optimum is not taken on trust: a second question finds nothing that is closer.
    """
    question, place = ruler.question(box, deadline), padded(ruler.extra)
    found = [question.least(ruler.length) for _ in visit(question, place)]
    if not found:
        return None
    if None in found:
        raise Undecided("z3 finds no least distance, though distances are never negative")
    radius = min(value for value in found if value is not None)
    question = ruler.question(box, deadline)
    question.push(ruler.closer_than(radius))
    if any(True for _ in visit(question, place)):
        raise Undecided("the optimum that z3 reports is not one")
    return radius


def points_within(
    ruler: Ruler, box: Box, deadline: Deadline, visit: Visit, radius: Fraction, strict: bool
) -> Iterator[tuple[Fraction, ...]]:
    """States of what is visited that lie within a radius."""
    question = ruler.question(box, deadline)
    question.push(ruler.closer_than(radius, strict))
    for _ in visit(question, padded(ruler.extra)):
        yield question.point()[: len(ruler.origin)]

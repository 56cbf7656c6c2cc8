"""How far floating-point evaluation of a condition can be from its value in real arithmetic."""

from collections.abc import Callable
from fractions import Fraction

from diprl.program.ast import Condition, conditions
from diprl.program.program import Program
from diprl.verify.cells import Margin
from diprl.verify.constraint import Box

_UNIT = Fraction(1, 2**53)
_SMALLEST = Fraction(1, 2**1074)
_OVERFLOW = 1e280
"""A margin beyond this belongs to sums that may exceed the range of floats."""


def rounding_margin(box: Box) -> Margin:
    """The largest error over a finite box: each of at most n products and n sums rounds once."""
    sizes = [Fraction(max(abs(low), abs(high))) for low, high in zip(box.low, box.high, strict=True)]

    def margin(condition: Condition) -> Fraction:
        weights = [abs(Fraction(weight)) for weight in condition.weights]
        total = sum((w * s for w, s in zip(weights, sizes, strict=True)), abs(Fraction(condition.bias)))
        operations = 2 * len(sizes) + 1
        return total * operations * _UNIT * 2 + operations * _SMALLEST

    return margin


def float_note(program: Program, box: Box, holds: Callable[[Margin], bool]) -> str:
    """Whether a proof also covers float64: it is repeated with every condition off by what rounding can do."""
    if not box.finite:
        return "float64 arithmetic: not examined, since the box is not bounded"
    margin = rounding_margin(box)
    largest = float(min(max(map(margin, conditions(program.root)), default=Fraction(0)), Fraction(1e300)))
    if largest > _OVERFLOW:
        return "float64 arithmetic: not examined, since the numbers are too large for it"
    if holds(margin):
        return f"float64 arithmetic: covered too (conditions may be off by {largest:.1e})"
    return f"float64 arithmetic: not covered where a condition is within {largest:.1e} of zero"

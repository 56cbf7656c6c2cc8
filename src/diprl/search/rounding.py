"""Numbers with few digits: rounding is an edit like any other, to be scored before it is believed."""

from diprl.program import Program
from diprl.program.ast import Condition, Item, assemble, flatten
from diprl.program.edit import round_item

DIGITS = (1, 2, 3)
"""Significant digits that programs are rounded to."""


def digits_of(program: Program) -> int:
    """The significant digits of its longest number, as far as rounding goes."""
    return next((digits for digits in DIGITS if program.rounded(digits) == program), DIGITS[-1])


def rounded(program: Program, digits: int) -> Program:
    """The program with its numbers to so many significant digits.

    A condition is divided by its smallest weight first, so that one of its coefficients reads as 1.
    """
    return program.with_root(assemble(round_item(of_unit_weight(item), digits) for item in flatten(program.root)))


def of_unit_weight(item: Item) -> Item:
    if not isinstance(item, Condition):
        return item
    smallest = min((abs(weight) for weight in item.weights if weight), default=1.0)
    return Condition(tuple(weight / smallest for weight in item.weights), item.bias / smallest)

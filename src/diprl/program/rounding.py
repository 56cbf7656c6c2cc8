"""Fewer digits: rounding is an edit like any other, to be scored before it is believed."""

from math import floor, log10

from diprl.program.ast import Blend, Item, assemble, flatten, number_rows, with_number_rows
from diprl.program.program import Program


def round_number(value: float, digits: int) -> float:
    """The value to so many significant digits."""
    return round(value, digits - 1 - floor(log10(abs(value)))) if value else 0.0


def round_item(item: Item, digits: int) -> Item:
    """A condition or an affine terminal to so many significant digits; a blend goes on summing to one."""
    if isinstance(item, Blend):
        *first, _ = (round(weight, digits) for weight in item.weights)
        return Blend((*first, round(max(0.0, 1.0 - sum(first)), digits)))
    rows = [tuple(round_number(value, digits) for value in row) for row in number_rows(item)]
    return with_number_rows(item, rows)


def round_program(program: Program, digits: int) -> Program:
    """Every condition and terminal to so many significant digits."""
    return program.with_root(assemble(round_item(item, digits) for item in flatten(program.root)))

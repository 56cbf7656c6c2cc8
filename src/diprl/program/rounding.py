"""Fewer digits: rounding is an edit like any other, to be scored before it is believed."""

from math import floor, log10

from diprl.program.ast import Act, Affine, Blend, Condition, If, Node
from diprl.program.program import Program


def round_number(value: float, digits: int) -> float:
    """The value to so many significant digits."""
    return round(value, digits - 1 - floor(log10(abs(value)))) if value else 0.0


def round_condition(condition: Condition, digits: int) -> Condition:
    weights = tuple(round_number(weight, digits) for weight in condition.weights)
    return Condition(weights, round_number(condition.bias, digits))


def round_program(program: Program, digits: int) -> Program:
    """Every condition and affine terminal to so many significant digits; blends keep summing to one."""
    return Program(program.signature, _round(program.root, digits), program.task)


def _round(node: Node, digits: int) -> Node:
    if isinstance(node, If):
        return If(
            round_condition(node.condition, digits), _round(node.then, digits), _round(node.orelse, digits)
        )
    if isinstance(node, Affine):
        weights = tuple(tuple(round_number(value, digits) for value in row) for row in node.weights)
        return Affine(weights, tuple(round_number(value, digits) for value in node.bias))
    if isinstance(node, Blend):
        *first, _ = (round(weight, digits) for weight in node.weights)
        return Blend((*first, round(max(0.0, 1.0 - sum(first)), digits)))
    return Act(node.action)

"""Formulas over features, such as `sqrt(vx^2 + vy^2)`: read by a small parser of their own, never run as code.

A formula becomes a list of steps for a stack of arrays, so that a batch of observations takes one pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.program.tokens import ProgramSyntaxError, Tokens

Array = NDArray[np.float64]
Step = float | int | np.ufunc
"""A number, the index of a feature, or what to do with the last one or two values."""

OPERATORS = {"+": (1, np.add), "-": (1, np.subtract), "*": (2, np.multiply), "/": (2, np.divide), "^": (4, np.power)}
"""How tightly an operator binds, and what it does; a sign binds with 3, so that -x^2 is -(x^2)."""
NAMES = ("abs", "cos", "exp", "log", "sign", "sin", "sqrt", "tan", "tanh")
FUNCTIONS: dict[str, np.ufunc] = {name: getattr(np, name) for name in NAMES}
FUNCTIONS |= {"atan2": np.arctan2, "max": np.maximum, "min": np.minimum}
LONGEST, DEEPEST = 1000, 100
"""Characters of a formula, and how far it may nest."""


@dataclass(frozen=True)
class Formula:
    """A number computed from features that come before it."""

    text: str
    steps: tuple[Step, ...]

    def __call__(self, columns: Sequence[Array]) -> Array:
        """The value for each observation; a column holds one feature of all of them."""
        stack: list[Any] = []
        with np.errstate(all="ignore"):
            for step in self.steps:
                if isinstance(step, np.ufunc):
                    stack[-step.nin :] = [step(*stack[-step.nin :])]
                else:
                    stack.append(columns[step] if isinstance(step, int) else np.float64(step))
        return np.broadcast_to(stack[0], columns[0].shape)


def parse_formula(text: str, names: Sequence[str], owner: str) -> Formula:
    """Read a formula over the named features; an error says in which column of whose formula it is."""
    if len(text) > LONGEST:
        raise DiprlError(f"the formula of {owner} is longer than {LONGEST} characters")
    tokens = Tokens(text, 1)
    try:
        steps = _expression(tokens, names, 1, 0)
        tokens.expect_end()
    except ProgramSyntaxError as error:
        raise DiprlError(f"the formula of {owner}, {str(error).removeprefix('line 1, ')}") from None
    return Formula(text, tuple(steps))


def _expression(tokens: Tokens, names: Sequence[str], least: int, depth: int) -> list[Step]:
    """The steps of an operand and of the operators after it that bind at least so tightly."""
    steps = _operand(tokens, names, depth)
    while (sign := tokens.current.text) in OPERATORS and OPERATORS[sign][0] >= least:
        tokens.advance()
        binding, function = OPERATORS[sign]
        steps += [*_expression(tokens, names, binding + (sign != "^"), depth + 1), function]
    return steps


def _operand(tokens: Tokens, names: Sequence[str], depth: int) -> list[Step]:
    token = tokens.advance()
    if depth == DEEPEST:
        raise token.error("a formula that nests less deeply")
    if token.text in ("+", "-"):
        steps = _expression(tokens, names, 3, depth + 1)
        return [*steps, np.negative] if token.text == "-" else steps
    if token.kind == "number":
        return [float(token.text)]
    if token.text in names:
        return [names.index(token.text)]
    if token.text == "pi":
        return [pi]
    if token.text != "(" and token.text not in FUNCTIONS:
        raise token.error("a number, a feature that stands above, or a function", [*names, *FUNCTIONS])
    function = FUNCTIONS.get(token.text)
    if function is not None:
        tokens.expect("(")
    steps = _expression(tokens, names, 1, depth + 1)
    for _ in range(function.nin - 1 if function else 0):
        tokens.expect(",")
        steps += _expression(tokens, names, 1, depth + 1)
    tokens.expect(")")
    return [*steps, function] if function else steps

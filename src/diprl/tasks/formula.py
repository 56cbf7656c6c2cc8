"""Formulas over features, such as `sqrt(vx^2 + vy^2)`: read by a small parser of their own, never run as code.

A formula becomes a list of steps for a stack of arrays, so that a batch of observations takes one pass.
"""

from collections.abc import Callable, Sequence
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

OPERATORS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "^": np.power}
FUNCTIONS: dict[str, np.ufunc] = {
    "abs": np.abs,
    "atan2": np.arctan2,
    "cos": np.cos,
    "exp": np.exp,
    "log": np.log,
    "max": np.maximum,
    "min": np.minimum,
    "sign": np.sign,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}
LONGEST, DEEPEST = 1000, 40
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
    reader = _Reader(Tokens(text, 1), names)
    try:
        reader.sum(0)
        reader.tokens.expect_end()
    except ProgramSyntaxError as error:
        raise DiprlError(f"the formula of {owner}, {str(error).removeprefix('line 1, ')}") from None
    return Formula(text, tuple(reader.steps))


class _Reader:
    """Reads a formula from left to right and notes the steps that compute it."""

    def __init__(self, tokens: Tokens, names: Sequence[str]) -> None:
        self.tokens, self.names, self.steps = tokens, names, list[Step]()

    def sum(self, depth: int) -> None:
        self.chain(depth, self.product, "+", "-")

    def product(self, depth: int) -> None:
        self.chain(depth, self.factor, "*", "/")

    def chain(self, depth: int, part: Callable[[int], None], *signs: str) -> None:
        """Parts with operators between them, from left to right."""
        part(depth)
        while sign := self.tokens.accept(*signs):
            part(depth)
            self.steps.append(OPERATORS[sign.text])

    def factor(self, depth: int) -> None:
        """A power with signs before it: -x^2 is -(x^2), as on paper."""
        negative = False
        while sign := self.tokens.accept("+", "-"):
            negative ^= sign.text == "-"
        self.atom(depth)
        if self.tokens.accept("^"):
            self.deeper(depth, self.factor)
            self.steps.append(np.power)
        if negative:
            self.steps.append(np.negative)

    def atom(self, depth: int) -> None:
        token = self.tokens.advance()
        if token.kind == "number":
            self.steps.append(float(token.text))
        elif token.text in self.names:
            self.steps.append(self.names.index(token.text))
        elif token.text == "pi":
            self.steps.append(pi)
        elif token.text in FUNCTIONS:
            self.tokens.expect("(")
            self.arguments(FUNCTIONS[token.text], depth)
        elif token.text == "(":
            self.deeper(depth, self.sum)
            self.tokens.expect(")")
        else:
            expected = "a number, a feature that stands above, or a function"
            raise token.error(expected, [*self.names, *FUNCTIONS])

    def arguments(self, function: np.ufunc, depth: int) -> None:
        for number in range(function.nin):
            if number:
                self.tokens.expect(",")
            self.deeper(depth, self.sum)
        self.tokens.expect(")")
        self.steps.append(function)

    def deeper(self, depth: int, read: Callable[[int], None]) -> None:
        if depth == DEEPEST:
            raise self.tokens.current.error(f"at most {DEEPEST} levels of parentheses and powers")
        read(depth + 1)

"""Formulas such as `sqrt(vx^2 + vy^2)`: read by a small parser of their own, never run as code.

A formula becomes a list of steps for a stack: numbers and names are pushed, a function takes its arguments from the
top. The caller supplies the functions: NumPy's for numbers and arrays, enclosures for proofs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import pi
from typing import Any, NamedTuple

import numpy as np

from diprl.errors import DiprlError
from diprl.program.tokens import ProgramSyntaxError, Token, Tokens

Functions = Mapping[str, Callable[..., Any]]

BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
"""How tightly an operator binds; a sign binds with 3, so that -x^2 is -(x^2)."""
_PLAIN = ("abs", "cos", "exp", "log", "sign", "sin", "sqrt", "tan", "tanh")
ARGUMENTS = dict.fromkeys(_PLAIN, 1) | {"atan2": 2, "max": 2, "min": 2} | dict.fromkeys(("clip", "wrap", "where"), 3)
"""How many arguments each function has; `where(a > b, x, y)` is x where a > b, and y elsewhere."""
LONGEST, DEEPEST = 1000, 100
"""Characters of a formula, and how far it may nest."""
_NEGATED = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}


def _wrap(value: Any, low: Any, high: Any) -> Any:
    """The value moved by whole widths into [low, high]; what lies there stays."""
    turns = np.ceil((value - high) / (high - low)), np.ceil((low - value) / (high - low))
    return value - np.where(value > high, turns[0], np.where(value < low, -turns[1], 0.0)) * (high - low)


NUMBERS: Functions = {
    **{name: getattr(np, name) for name in _PLAIN},
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
    "negative": np.negative,
    "atan2": np.arctan2,
    "max": np.maximum,
    "min": np.minimum,
    "clip": lambda value, low, high: np.minimum(np.maximum(value, low), high),
    "wrap": _wrap,
    "where": lambda difference, above, other: np.where(np.greater(difference, 0.0), above, other),
}
"""The functions of numbers and arrays."""
_SHORTHANDS: Functions = {
    "negative": lambda value: ["*", -1.0, value],
    "abs": lambda value: ["max", value, ["*", -1.0, value]],
    "clip": lambda value, low, high: ["min", ["max", value, low], high],
}
"""What trees write with other functions."""


class Call(NamedTuple):
    """Replace the topmost values of the stack by a function of them."""

    function: str
    count: int


Step = float | str | Call
Steps = tuple[Step, ...]


@dataclass(frozen=True)
class Formula:
    """A number computed from named values."""

    text: str
    steps: Steps

    @property
    def names(self) -> set[str]:
        """What it reads."""
        return {step for step in self.steps if isinstance(step, str)}

    @property
    def calls(self) -> set[str]:
        """The functions that it uses."""
        return {step.function for step in self.steps if isinstance(step, Call)}

    def tree(self) -> Any:
        """As nested lists, such as ["+", ["*", 2.0, "x"], 1.0], with few functions."""
        stack: list[Any] = []
        for step in self.steps:
            if isinstance(step, Call):
                arguments = stack[-step.count :]
                plain = _SHORTHANDS[step.function](*arguments) if step.function in _SHORTHANDS else None
                stack[-step.count :] = [plain or [step.function, *arguments]]
            else:
                stack.append(step)
        return stack[0]

    def __call__(self, values: Mapping[str, Any], functions: Functions = NUMBERS) -> Any:
        """The value, for numbers, arrays, or whatever else the functions take."""
        stack: list[Any] = []
        with np.errstate(all="ignore"):
            for step in self.steps:
                if isinstance(step, Call):
                    stack[-step.count :] = [functions[step.function](*stack[-step.count :])]
                else:
                    stack.append(values[step] if isinstance(step, str) else np.float64(step))
        return stack[0]


@dataclass(frozen=True)
class Comparison:
    """Two formulas, of which one is greater, or not smaller if the comparison is not strict."""

    left: Formula
    sign: str
    right: Formula

    @property
    def text(self) -> str:
        return f"{self.left.text} {self.sign} {self.right.text}"

    @property
    def strict(self) -> bool:
        return len(self.sign) == 1

    @property
    def difference(self) -> Formula:
        """What is greater minus what is smaller."""
        sides = (self.left, self.right) if self.sign[0] == ">" else (self.right, self.left)
        return Formula("", (*sides[0].steps, *sides[1].steps, Call("-", 2)))

    def negated(self) -> "Comparison":
        """The comparison that holds where this one does not."""
        return Comparison(self.left, _NEGATED[self.sign], self.right)

    def tree(self) -> list[Any]:
        """As nested lists, such as ["<=", "x", 1.0]."""
        return [self.sign, self.left.tree(), self.right.tree()]

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Whether it holds, for numbers or arrays; never where the difference is not a number."""
        value = self.difference(values)
        return value > 0.0 if self.strict else value >= 0.0


def parse_formula(text: str, names: Sequence[str], owner: str) -> Formula:
    """Read a formula over the named features; an error says in which column of whose formula it is."""
    if len(text) > LONGEST:
        raise DiprlError(f"the formula of {owner} is longer than {LONGEST} characters")
    try:
        return read_formula(text, names)
    except ProgramSyntaxError as error:
        raise DiprlError(f"the formula of {owner}, {str(error).removeprefix('line 1, ')}") from None


def read_formula(text: str, names: Sequence[str], line: int = 1, column: int = 1) -> Formula:
    """Read a formula that begins in some line and column of a file."""
    tokens = Tokens(text, line, column)
    steps = _expression(tokens, names, 1, 0)
    tokens.expect_end()
    return Formula(text.strip(), tuple(steps))


def read_comparison(text: str, names: Sequence[str], line: int = 1, column: int = 1) -> Comparison:
    """Read `left > right`, with >, <, >= or <=."""
    tokens = Tokens(text, line, column)
    left, sign, right = _comparison(tokens, names, 0)
    tokens.expect_end()
    before, after = text[: sign.column - column], text[sign.column - column + len(sign.text) :]
    return Comparison(Formula(before.strip(), left), sign.text, Formula(after.strip(), right))


def _comparison(tokens: Tokens, names: Sequence[str], depth: int) -> tuple[Steps, Token, Steps]:
    left = _expression(tokens, names, 1, depth)
    sign = tokens.accept(*_NEGATED)
    if sign is None:
        raise tokens.current.error("'>', '<', '>=' or '<='")
    return tuple(left), sign, tuple(_expression(tokens, names, 1, depth))


def _expression(tokens: Tokens, names: Sequence[str], least: int, depth: int) -> list[Step]:
    """The steps of an operand and of the operators after it that bind at least so tightly."""
    steps = _operand(tokens, names, depth)
    while (sign := tokens.current.text) in BINDING and BINDING[sign] >= least:
        tokens.advance()
        steps += [*_expression(tokens, names, BINDING[sign] + (sign != "^"), depth + 1), Call(sign, 2)]
    return steps


def _operand(tokens: Tokens, names: Sequence[str], depth: int) -> list[Step]:
    token = tokens.advance()
    if depth == DEEPEST:
        raise token.error("a formula that nests less deeply")
    if token.text in ("+", "-"):
        steps = _expression(tokens, names, 3, depth + 1)
        return [*steps, Call("negative", 1)] if token.text == "-" else steps
    if token.kind == "number":
        return [float(token.text)]
    if token.text in names:
        return [token.text]
    if token.text == "pi":
        return [pi]
    if token.text != "(" and token.text not in ARGUMENTS:
        raise token.error("a number, a feature that stands above, or a function", [*names, *ARGUMENTS])
    return _arguments(tokens, names, token.text, depth + 1)


def _arguments(tokens: Tokens, names: Sequence[str], function: str, depth: int) -> list[Step]:
    """The steps of a function and its arguments, or of what stands in parentheses."""
    steps: list[Step] = []
    if function in ARGUMENTS:
        tokens.expect("(")
    for position in range(ARGUMENTS.get(function, 1)):
        if position:
            tokens.expect(",")
        if function == "where" and not position:
            begin, (left, sign, right) = tokens.current, _comparison(tokens, names, depth)
            if len(sign.text) > 1:
                raise begin.error("a strict comparison, with '>' or '<'")
            steps += [*Comparison(Formula("", left), sign.text, Formula("", right)).difference.steps]
        else:
            steps += _expression(tokens, names, 1, depth)
    tokens.expect(")")
    return [*steps, Call(function, ARGUMENTS[function])] if function in ARGUMENTS else steps

"""Formulas such as `clip(v + 0.1*sin(angle), -8, 8)`: read once, kept as plain data, never executed as code.

A formula is a list of steps for a stack: numbers and names are pushed, a function takes its arguments from the
top. So evaluation needs no recursion, and whoever evaluates brings the functions: NumPy's here, enclosures in proofs.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import isfinite, pi
from typing import Any

import numpy as np

from diprl.program.tokens import Tokens

MAX_PARENTHESES = 40
CONSTANTS = {"pi": pi}
ARGUMENTS = {"sin": 1, "cos": 1, "exp": 1, "sqrt": 1, "abs": 1, "min": 2, "max": 2, "clip": 3, "wrap": 3, "where": 3}
"""How many arguments each function has; `where(a > b, x, y)` is x where a > b, and y elsewhere."""
_LARGEST_POWER = 16


@dataclass(frozen=True)
class Apply:
    """Replace the topmost values by a function of them."""

    function: str
    count: int


@dataclass(frozen=True)
class Formula:
    """An expression over named values."""

    text: str
    steps: tuple[float | str | Apply, ...]

    @property
    def names(self) -> set[str]:
        """What it reads."""
        return {step for step in self.steps if isinstance(step, str)}

    @property
    def functions(self) -> set[str]:
        return {step.function for step in self.steps if isinstance(step, Apply)}

    def evaluate(self, values: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> Any:
        """The value in the algebra of the given functions."""
        stack: list[Any] = []
        for step in self.steps:
            if isinstance(step, Apply):
                arguments = stack[-step.count :]
                del stack[-step.count :]
                stack.append(functions[step.function](*arguments))
            else:
                stack.append(values[step] if isinstance(step, str) else step)
        return stack[0]

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """The value for numbers or arrays."""
        with np.errstate(all="ignore"):
            return self.evaluate(values, NUMPY)


@dataclass(frozen=True)
class Comparison:
    """A formula that is above zero, or not below it where the comparison is not strict."""

    text: str
    difference: Formula
    strict: bool

    def negated(self) -> "Comparison":
        """The comparison that holds where this one does not."""
        sign = next(sign for sign in (">=", "<=", ">", "<") if sign in self.text)
        text = self.text.replace(sign, {">=": "<", "<=": ">", ">": "<=", "<": ">="}[sign])
        turned = Formula(text, (*self.difference.steps, Apply("negative", 1)))
        return Comparison(text, turned, not self.strict)

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Whether it holds, for numbers or arrays; never where the difference is not a number."""
        value = self.difference(values)
        return value > 0.0 if self.strict else value >= 0.0


def parse_formula(text: str, names: Collection[str], line: int = 1, column: int = 1) -> Formula:
    """Read a formula over the given names; errors say where and what was expected."""
    reader = _Reader(Tokens(text, line, column), names)
    reader.sum()
    reader.tokens.expect_end()
    return Formula(text.strip(), tuple(reader.steps))


def parse_comparison(text: str, names: Collection[str], line: int = 1, column: int = 1) -> Comparison:
    """Read `left > right`, with >, <, >= or <=."""
    reader = _Reader(Tokens(text, line, column), names)
    strict = reader.comparison()
    reader.tokens.expect_end()
    return Comparison(text.strip(), Formula(text.strip(), tuple(reader.steps)), strict)


class _Reader:
    """Reads by recursive descent, which nested parentheses bound, and writes steps in the order of evaluation."""

    def __init__(self, tokens: Tokens, names: Collection[str]) -> None:
        self.tokens, self.names, self.depth = tokens, names, 0
        self.steps: list[float | str | Apply] = []

    def sum(self) -> None:
        self._product()
        while sign := self.tokens.accept("+", "-"):
            self._product()
            self._apply(sign.text, 2)

    def comparison(self) -> bool:
        """Write greater minus smaller; gives whether the comparison is strict."""
        self.sum()
        sign = self.tokens.accept(">", "<", ">=", "<=")
        if sign is None:
            raise self.tokens.current.error("'>', '<', '>=' or '<='")
        self.sum()
        self._apply("-", 2)
        if sign.text[0] == "<":
            self._apply("negative", 1)
        return len(sign.text) == 1

    def _product(self) -> None:
        self._factor()
        while sign := self.tokens.accept("*", "/"):
            self._factor()
            self._apply(sign.text, 2)

    def _factor(self) -> None:
        negative = False
        while sign := self.tokens.accept("+", "-"):
            negative ^= sign.text == "-"
        self._atom()
        if self.tokens.accept("**"):
            token = self.tokens.advance()
            if not token.text.isdecimal() or not 1 <= int(token.text[:9]) <= _LARGEST_POWER:
                raise token.error(f"a whole power from 1 to {_LARGEST_POWER}")
            self.steps.append(float(token.text))
            self._apply("**", 2)
        if negative:
            self._apply("negative", 1)

    def _atom(self) -> None:
        token = self.tokens.advance()
        if token.kind == "number":
            if not isfinite(float(token.text)):
                raise token.error("a finite number")
            self.steps.append(float(token.text))
        elif token.text in ARGUMENTS and self.tokens.current.text == "(":
            self.tokens.advance()
            self._call(token.text)
        elif token.text == "(":
            self._nested(self.sum)
        elif token.text in self.names:
            self.steps.append(token.text)
        elif token.text in CONSTANTS:
            self.steps.append(CONSTANTS[token.text])
        else:
            raise token.error("a number, a known name or a function", [*self.names, *ARGUMENTS])

    def _call(self, function: str) -> None:
        def arguments() -> None:
            for position in range(ARGUMENTS[function]):
                if position:
                    self.tokens.expect(",")
                if function == "where" and position == 0:
                    where = self.tokens.current
                    if not self.comparison():
                        raise where.error("a strict comparison, with '>' or '<'")
                else:
                    self.sum()

        self._nested(arguments)
        self._apply(function, ARGUMENTS[function])

    def _nested(self, read: Callable[[], object]) -> None:
        if self.depth == MAX_PARENTHESES:
            raise self.tokens.current.error(f"at most {MAX_PARENTHESES} nested parentheses")
        self.depth += 1
        read()
        self.tokens.expect(")")
        self.depth -= 1

    def _apply(self, function: str, count: int) -> None:
        self.steps.append(Apply(function, count))


def _wrap(value: Any, low: Any, high: Any) -> Any:
    """The value moved by whole widths into [low, high]; what lies there stays."""
    width = high - low
    turns = np.where(
        value > high, np.ceil((value - high) / width), np.where(value < low, -np.ceil((low - value) / width), 0)
    )
    return value - turns * width


NUMPY: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "**": np.power,
    "negative": np.negative,
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
    "clip": lambda value, low, high: np.minimum(np.maximum(value, low), high),
    "wrap": _wrap,
    "where": lambda difference, above, other: np.where(np.greater(difference, 0.0), above, other),
}

"""One line of program text, read from left to right: tokens, linear forms, and errors that point into it."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from math import isfinite
from operator import mul, neg, truediv
from typing import Any, NamedTuple

from diprl.errors import ProgramError, nearest

MAX_CHARACTERS = 1_000_000
"""Longer texts are refused before any work is done on them."""

Names = dict[str, Any]
"""The names of features or actions in order, as keys: there may be many, and each is looked up often."""

_MAX_PARENTHESES = _MAX_FACTORS = 40

NAME = r"[^\W\d]\w*"
NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"

_TOKEN = re.compile(
    rf"\s*(?:(?P<number>{NUMBER})|(?P<name>{NAME})|(?P<symbol>>=|<=|==|!=|[-+*/()=:<>,;\[\]−×·])|(?P<other>[^#\s]))"
)
_SPELLINGS = {"−": "-", "×": "*", "·": "*"}


class ProgramSyntaxError(ProgramError):
    """The text of a program does not parse; says where, and what was expected there."""

    def __init__(self, line: int, column: int, expected: str, found: str, hint: str = "") -> None:
        self.line, self.column, self.expected, self.found = line, column, expected, found
        super().__init__(f"line {line}, column {column}: expected {expected}, found {found}{hint and f' ({hint})'}")


class Token(NamedTuple):
    """One token of the text and where it stands; lines and columns count from one."""

    kind: str
    text: str
    line: int
    column: int

    def error(self, expected: str, known: Iterable[str] = (), hint: str = "") -> ProgramSyntaxError:
        """An error at this token, offering the nearest of the known names."""
        found = f"'{self.text:.40}'" if self.text else "the end of the line"
        near = nearest(self.text, known)
        hint = hint or (f"did you mean {near[0]}?" if near else "")
        return ProgramSyntaxError(self.line, self.column, expected, found, hint)


class Tokens:
    """The tokens of one line up to a comment; an empty token ends them."""

    indent: int
    """How far in the line begins, as its reader counts it."""
    current: Token
    """The token that comes next."""

    def __init__(self, text: str, line: int, column: int = 1, indent: int = 0) -> None:
        self._text, self._line, self._column, self.indent = text, line, column, indent
        self._move(0)

    @property
    def ended(self) -> bool:
        return self.current.kind == "end"

    def advance(self) -> Token:
        """The current token, stepping past it."""
        token = self.current
        self._move(self._end)
        return token

    def accept(self, *texts: str) -> Token | None:
        """The current token when it is one of the given texts, stepping past it."""
        return self.advance() if self.current.text in texts and not self.ended else None

    def expect(self, text: str) -> Token:
        if self.current.text != text:
            raise self.current.error(f"'{text}'")
        return self.advance()

    def expect_end(self) -> None:
        if not self.ended:
            raise self.current.error("the end of the line")

    def read(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        """What matches a pattern from the current token on, stepping past it."""
        match = pattern.match(self._text, self._start)
        if not match:
            raise self.current.error(expected)
        self._move(match.end())
        return match

    def items(self, pattern: re.Pattern[str], expected: str) -> Iterator[re.Match[str]]:
        """Everything up to the end as a list with commas in between."""
        while not self.ended:
            yield self.read(pattern, expected)
            if not self.ended:
                self.expect(",")

    def _move(self, position: int) -> None:
        """Make the first token from a position on the current one."""
        match = _TOKEN.match(self._text, position)
        kind = match.lastgroup if match else None
        text = match[kind] if match and kind else ""
        self._end = match.end() if match else position
        self._start = self._end - len(text)
        self.current = Token(kind or "end", _SPELLINGS.get(text, text), self._line, self._column + self._start)


@dataclass
class Linear:
    """A sum of named terms and a constant, while it is being read."""

    terms: dict[str, float] = field(default_factory=dict)
    constant: float = 0.0

    def add(self, other: "Linear", sign: float) -> None:
        for name, weight in other.terms.items():
            self.terms[name] = self.terms.get(name, 0.0) + sign * weight
        self.constant += sign * other.constant

    def changed(self, change: Callable[[float], float]) -> "Linear":
        return Linear({name: change(weight) for name, weight in self.terms.items()}, change(self.constant))

    def weights(self, names: Iterable[str]) -> tuple[float, ...]:
        return tuple(self.terms.get(name, 0.0) for name in names)


def parse_linear(tokens: Tokens, names: Collection[str], kind: str) -> Linear:
    """Read a linear form; `kind` says in errors what its names are, such as 'a feature name'."""
    start = tokens.current
    linear = _sum(tokens, names, kind, 0)
    if not all(map(isfinite, (linear.constant, *linear.terms.values()))):
        raise start.error("finite numbers", hint="a number is too large")
    return linear


def _sum(tokens: Tokens, names: Collection[str], kind: str, depth: int) -> Linear:
    total = Linear()
    total.add(_product(tokens, names, kind, depth), 1.0)
    while sign := tokens.accept("+", "-"):
        total.add(_product(tokens, names, kind, depth), 1.0 if sign.text == "+" else -1.0)
    return total


def _product(tokens: Tokens, names: Collection[str], kind: str, depth: int) -> Linear:
    product, factors = _factor(tokens, names, kind, depth), 1
    while operator := tokens.accept("*", "/"):
        where, factors = tokens.current, factors + 1
        if factors > _MAX_FACTORS:
            raise where.error(f"at most {_MAX_FACTORS} factors")
        factor = _factor(tokens, names, kind, depth)
        if operator.text == "/" and (factor.terms or factor.constant == 0.0):
            raise where.error("a number other than zero to divide by")
        if factor.terms and product.terms:
            raise where.error("a number", hint="conditions are linear: two names cannot be multiplied")
        if factor.terms:
            product, factor = factor, product
        change = truediv if operator.text == "/" else mul
        product = product.changed(lambda value, change=change, by=factor.constant: change(value, by))
    return product


def _factor(tokens: Tokens, names: Collection[str], kind: str, depth: int) -> Linear:
    negative = False
    while sign := tokens.accept("+", "-"):
        negative ^= sign.text == "-"
    factor = _atom(tokens, names, kind, depth)
    return factor.changed(neg) if negative else factor


def _atom(tokens: Tokens, names: Collection[str], kind: str, depth: int) -> Linear:
    token = tokens.advance()
    if token.kind == "number":
        return Linear(constant=float(token.text))
    if token.kind == "name":
        if token.text not in names:
            raise token.error(kind, names)
        return Linear({token.text: 1.0})
    if token.text != "(":
        raise token.error(f"{kind} or a number")
    if depth == _MAX_PARENTHESES:
        raise token.error(f"at most {_MAX_PARENTHESES} nested parentheses")
    inner = _sum(tokens, names, kind, depth + 1)
    tokens.expect(")")
    return inner

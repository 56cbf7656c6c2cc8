"""One line of program text, read from left to right, with errors that point into it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from diprl.errors import LONGEST_NAME, ProgramError

MAX_CHARACTERS = 1_000_000
"""Longer texts are refused before any work is done on them."""

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


@dataclass(frozen=True)
class Token:
    """One token of the text and where it stands; lines and columns count from one."""

    kind: str
    text: str
    line: int
    column: int

    def error(self, expected: str, known: Iterable[str] = (), hint: str = "") -> ProgramSyntaxError:
        """An error at this token, offering the nearest of the known names."""
        found = f"'{self.text:.40}'" if self.text else "the end of the line"
        near = get_close_matches(self.text[:LONGEST_NAME], list(known), n=1, cutoff=0.6)
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

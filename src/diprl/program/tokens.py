"""The tokens of program text, and errors that point at one of them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from diprl.errors import LONGEST_NAME, ProgramError

MAX_CHARACTERS = 1_000_000
"""Longer texts are refused before any work is done on them."""

_PATTERN = re.compile(
    r"(?P<space>[ \t\r\f]+)|(?P<comment>\#.*)"
    r"|(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<symbol>>=|<=|==|!=|[-+*/()=:<>,;\[\]−×·])"
    r"|(?P<other>.)"
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
    """The tokens of one line, read from left to right; an empty token ends them."""

    def __init__(self, text: str, line: int, column: int = 1) -> None:
        self._tokens = _tokenize(text, line, column)
        self._position = 0

    @property
    def current(self) -> Token:
        return self._tokens[self._position]

    @property
    def ended(self) -> bool:
        return self.current.kind == "end"

    def advance(self) -> Token:
        """The current token, stepping past it."""
        token = self.current
        if token.kind != "end":
            self._position += 1
        return token

    def accept(self, *texts: str) -> Token | None:
        """The current token when it is one of the given texts, stepping past it."""
        return self.advance() if self.current.text in texts and not self.ended else None

    def expect(self, text: str, hint: str = "") -> Token:
        if self.current.text != text:
            raise self.current.error(f"'{text}'", hint=hint)
        return self.advance()

    def expect_end(self) -> None:
        if not self.ended:
            raise self.current.error("the end of the line")


def _tokenize(text: str, line: int, column: int) -> list[Token]:
    tokens = []
    for match in _PATTERN.finditer(text):
        kind, found = match.lastgroup or "other", match.group()
        if kind not in ("space", "comment"):
            tokens.append(Token(kind, _SPELLINGS.get(found, found), line, column + match.start()))
    ended = len(text[: text.find("#")].rstrip() if "#" in text else text.rstrip())
    return [*tokens, Token("end", "", line, column + ended)]

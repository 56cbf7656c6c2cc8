"""Reads the head of program text: the task, the features and the actions.

    task: Pendulum-v1
    features: angle [rad] in [-3.2, 3.2], speed [rad/s]: "turning left is positive"
    outputs: torque [N m] in [-2.0, 2.0]

An entry may go on over indented lines. What a signature says in words stands in quotes.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from diprl.errors import ProgramError
from diprl.program.signature import Actions, Continuous, Discrete, Feature, Primitives, Signature
from diprl.program.tokens import Token

KEYS = ("task", "features", "actions", "outputs", "primitives", "actuators")

_KEY = re.compile(r"([^\W\d]\w*)\s*:")
_NUMBER = r"[-+−]?(?:inf|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)"
_STRING = r'"(?:[^"\\]|\\.)*"'
_INTERVAL = rf"\[\s*({_NUMBER})\s*,\s*({_NUMBER})\s*\]"
_PATTERNS = {
    "a name": re.compile(r"[^\W\d]\w*"),
    "a unit": re.compile(rf"\[(?:\s*({_STRING})\s*|([^\[\]\"#]*))\]"),
    "bounds": re.compile(rf"in\s*{_INTERVAL}"),
    "bounds such as [-1, 1]": re.compile(_INTERVAL),
    "a meaning": re.compile(rf":\s*({_STRING})"),
    "','": re.compile(r","),
    "a count": re.compile(r"(\d+)\s*in\b\s*"),
}


@dataclass
class Cursor:
    """A place in one line of a head."""

    text: str
    line: int
    position: int

    def accept(self, part: str) -> re.Match[str] | None:
        """The named pattern where it matches here, stepping past it."""
        self._skip_spaces()
        match = _PATTERNS[part].match(self.text, self.position)
        if match:
            self.position = match.end()
        return match

    def require(self, part: str) -> re.Match[str]:
        match = self.accept(part)
        if not match:
            raise self.error(part)
        return match

    def error(self, expected: str) -> ProgramError:
        word = re.compile(r"\w+|.?").match(self.text, self.position)
        return Token("header", word.group() if word else "", self.line, self.position + 1).error(expected)

    def ended(self) -> bool:
        self._skip_spaces()
        return self.position >= len(self.text) or self.text[self.position] == "#"

    def words(self) -> str:
        """Everything up to the end of the line or a comment, for a value that is not a list."""
        self._skip_spaces()
        match = re.compile(rf"{_STRING}|[^#]*").match(self.text, self.position)
        return match.group().strip() if match else ""

    def _skip_spaces(self) -> None:
        while self.position < len(self.text) and self.text[self.position].isspace():
            self.position += 1


Header = dict[str, list[Cursor]]
"""For each key of a head, the lines that belong to it."""


def split_header(lines: list[str]) -> tuple[Header, int]:
    """The entries of the head, and the index of the first line after it."""
    header: Header = {}
    current: list[Cursor] = []
    for index, line in enumerate(lines):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key = _KEY.match(line)
        if line[0].isspace() and header:
            current.append(Cursor(line, index + 1, 0))
        elif key and key[1] in KEYS:
            if key[1] in header:
                raise ProgramError(f"line {index + 1}: the header says '{key[1]}:' twice")
            header[key[1]] = current = [Cursor(line, index + 1, key.end())]
        elif key and key[1] != "else":
            raise Token("name", key[1], index + 1, 1).error("a header such as 'features:'", KEYS)
        else:
            return header, index
    return header, len(lines)


def parse_task(header: Header) -> str:
    words = " ".join(cursor.words() for cursor in header.get("task", [])).strip()
    return _unquote(words, header["task"][0]) if words.startswith('"') else words


def parse_signature(header: Header) -> Signature | None:
    """The signature that a head describes, or None where it describes none."""
    if not header.keys() - {"task"}:
        return None
    if "features" not in header:
        raise ProgramError("the header has no 'features:' line")
    return Signature(tuple(_feature(cursor) for cursor in _items(header["features"])), _actions(header))


def _actions(header: Header) -> Actions:
    kinds = [key for key in ("actions", "outputs", "primitives") if key in header]
    if len(kinds) != 1 or ("actuators" in header) != (kinds == ["primitives"]):
        raise ProgramError(
            "the header needs one of 'actions:', 'outputs:', or 'primitives:' with 'actuators:'"
        )
    if kinds == ["outputs"]:
        return _continuous([_feature(cursor) for cursor in _items(header["outputs"])])
    names = tuple(cursor.require("a name").group() for cursor in _items(header[kinds[0]]))
    if kinds == ["actions"]:
        return Discrete(names)
    bounds = [pair for cursor in _items(header["actuators"]) for pair in _actuators(cursor)]
    return Primitives(names, tuple(low for low, _ in bounds), tuple(high for _, high in bounds))


def _continuous(outputs: list[Feature]) -> Continuous:
    low, high = tuple(output.low for output in outputs), tuple(output.high for output in outputs)
    return Continuous(
        tuple(output.name for output in outputs), low, high, tuple(output.unit for output in outputs)
    )


def _items(cursors: list[Cursor]) -> Iterator[Cursor]:
    """Yield a line's cursor once per item of its comma-separated list; whoever takes it reads the item."""
    for cursor in cursors:
        while not cursor.ended():
            yield cursor
            if not cursor.ended():
                cursor.require("','")


def _feature(cursor: Cursor) -> Feature:
    name = cursor.require("a name").group()
    unit = cursor.accept("a unit")
    bounds = cursor.accept("bounds")
    low, high = _pair(bounds) if bounds else (-inf, inf)
    meaning = cursor.accept("a meaning")
    return Feature(name, _unit(unit, cursor), low, high, _unquote(meaning[1], cursor) if meaning else "")


def _unit(match: re.Match[str] | None, cursor: Cursor) -> str:
    if not match:
        return ""
    return _unquote(match[1], cursor) if match[1] else match[2].strip()


def _actuators(cursor: Cursor) -> list[tuple[float, float]]:
    """The bounds of `3 in [-1, 1]`, three times, or of `[-1, 1]`, once."""
    count = cursor.accept("a count")
    number = int(count[1][:8]) if count else 1
    if not 1 <= number <= 10_000:
        raise cursor.error("between 1 and 10000 actuators")
    return [_pair(cursor.require("bounds such as [-1, 1]"))] * number


def _pair(match: re.Match[str]) -> tuple[float, float]:
    return float(match[1].replace("−", "-")), float(match[2].replace("−", "-"))


def _unquote(string: str, cursor: Cursor) -> str:
    try:
        return json.loads(string)
    except ValueError:
        raise cursor.error("quoted text with valid escapes") from None

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

_NUMBER = r"[-+−]?(?:inf|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)"
_STRING = r'"(?:[^"\\]|\\.)*"'
_INTERVAL = rf"\[\s*(?P<low>{_NUMBER})\s*,\s*(?P<high>{_NUMBER})\s*\]"
_KEY = re.compile(r"([^\W\d]\w*)\s*:")
_NAME = re.compile(r"[^\W\d]\w*")
_FEATURE = re.compile(
    rf"(?P<name>{_NAME.pattern})"
    rf"(?:\s*\[(?:\s*(?P<quoted_unit>{_STRING})\s*|(?P<unit>[^\[\]\"#]*))\])?"
    rf"(?:\s*in\s*{_INTERVAL})?(?:\s*:\s*(?P<meaning>{_STRING}))?"
)
_ACTUATORS = re.compile(rf"(?:(?P<count>\d+)\s*in\b\s*)?{_INTERVAL}")
_REST = re.compile(rf"{_STRING}|[^#]*")


@dataclass
class Cursor:
    """A place in one line of a head."""

    text: str
    line: int
    position: int

    def read(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        """What matches here, stepping past it."""
        self._skip_spaces()
        match = pattern.match(self.text, self.position)
        if not match:
            raise self.error(expected)
        self.position = match.end()
        return match

    def items(self, pattern: re.Pattern[str], expected: str) -> Iterator[re.Match[str]]:
        """Everything up to the end of the line or a comment, as a list with commas in between."""
        while not self._ended():
            yield self.read(pattern, expected)
            if not self._ended():
                self.read(re.compile(","), "','")

    def error(self, expected: str) -> ProgramError:
        word = re.compile(r"\w+|.?").match(self.text, self.position)
        return Token("header", word.group() if word else "", self.line, self.position + 1).error(expected)

    def unquote(self, string: str | None) -> str:
        """The text that a quoted string stands for."""
        try:
            return json.loads(string) if string else ""
        except ValueError:
            raise self.error("quoted text with valid escapes") from None

    def _ended(self) -> bool:
        self._skip_spaces()
        return self.position >= len(self.text) or self.text[self.position] == "#"

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
    cursors = header.get("task", [])
    text = " ".join(cursor.read(_REST, "a task").group().strip() for cursor in cursors).strip()
    return cursors[0].unquote(text) if text.startswith('"') else text


def parse_signature(header: Header) -> Signature | None:
    """The signature that a head describes, or None where it describes none."""
    if not header.keys() - {"task"}:
        return None
    if "features" not in header:
        raise ProgramError("the header has no 'features:' line")
    return Signature(tuple(_features(header["features"])), _actions(header))


def _actions(header: Header) -> Actions:
    kinds = [key for key in ("actions", "outputs", "primitives") if key in header]
    if len(kinds) != 1 or ("actuators" in header) != (kinds == ["primitives"]):
        raise ProgramError("the header needs one of 'actions:', 'outputs:', or 'primitives:' with 'actuators:'")
    if kinds == ["outputs"]:
        outputs = _features(header["outputs"])
        fields = zip(*((output.name, output.low, output.high, output.unit) for output in outputs), strict=True)
        return Continuous(*fields) if outputs else Continuous((), (), ())
    cursors = header[kinds[0]]
    names = tuple(match.group() for cursor in cursors for match in cursor.items(_NAME, "a name"))
    if kinds == ["actions"]:
        return Discrete(names)
    bounds = [pair for cursor in header["actuators"] for pair in _actuators(cursor)]
    return Primitives(names, tuple(low for low, _ in bounds), tuple(high for _, high in bounds))


def _features(cursors: list[Cursor]) -> list[Feature]:
    found = []
    for cursor in cursors:
        for match in cursor.items(_FEATURE, "a name"):
            unit = cursor.unquote(match["quoted_unit"]) or (match["unit"] or "").strip()
            found.append(Feature(match["name"], unit, *_bounds(match), cursor.unquote(match["meaning"])))
    return found


def _actuators(cursor: Cursor) -> Iterator[tuple[float, float]]:
    """The bounds of `3 in [-1, 1]`, three times, or of `[-1, 1]`, once."""
    for match in cursor.items(_ACTUATORS, "bounds such as [-1, 1]"):
        number = int((match["count"] or "1")[:8])
        if not 1 <= number <= 10_000:
            raise cursor.error("between 1 and 10000 actuators")
        yield from [_bounds(match)] * number


def _bounds(match: re.Match[str]) -> tuple[float, float]:
    if match["low"] is None:
        return -inf, inf
    return float(match["low"].replace("−", "-")), float(match["high"].replace("−", "-"))

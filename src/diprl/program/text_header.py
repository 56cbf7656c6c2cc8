"""Reads the head of program text: the task, the features and the actions.

    task: Pendulum-v1
    features: angle [rad] in [-3.2, 3.2], speed [rad/s]: "turning left is positive"
    outputs: torque [N m] in [-2.0, 2.0]

An entry may go on over indented lines. What a signature says in words stands in quotes.
"""

import json
import re
from collections.abc import Iterator
from itertools import chain, islice
from math import inf

from diprl.errors import ProgramError
from diprl.program.check import MAX_NAMES
from diprl.program.signature import Actions, Continuous, Discrete, Feature, Primitives, Signature
from diprl.program.tokens import NAME, NUMBER, Tokens

KEYS = ("task", "features", "actions", "outputs", "primitives", "actuators")

_BOUND = rf"[-+−]?(?:inf|{NUMBER})"
_STRING = r'"(?:[^"\\]|\\.)*"'
_INTERVAL = rf"\[\s*(?P<low>{_BOUND})\s*,\s*(?P<high>{_BOUND})\s*\]"
_KEY = re.compile(rf"({NAME})\s*:")
_NAME = re.compile(NAME)
_FEATURE = re.compile(
    rf"(?P<name>{NAME})"
    rf"(?:\s*\[(?:\s*(?P<quoted_unit>{_STRING})\s*|(?P<unit>[^\[\]\"#]*))\])?"
    rf"(?:\s*in\s*{_INTERVAL})?(?:\s*:\s*(?P<meaning>{_STRING}))?"
)
_ACTUATORS = re.compile(rf"(?:(?P<count>\d+)\s*in\b\s*)?{_INTERVAL}")
_REST = re.compile(rf"{_STRING}|[^#]*")

Header = dict[str, list[Tokens]]
"""The lines of each entry."""


def split_header(lines: list[str]) -> tuple[Header, int]:
    """The entries of the head, and the index of the first line after it."""
    header: Header = {}
    current: list[Tokens] = []
    for index, line in enumerate(lines):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key = _KEY.match(line)
        if line[0].isspace() and header:
            current.append(Tokens(line, index + 1))
        elif key and key[1] in KEYS:
            if key[1] in header:
                raise ProgramError(f"line {index + 1}: the header says '{key[1]}:' twice")
            header[key[1]] = current = [Tokens(line[key.end() :], index + 1, key.end() + 1)]
        elif key and key[1] != "else":
            raise Tokens(line, index + 1).current.error("a header such as 'features:'", KEYS)
        else:
            return header, index
    return header, len(lines)


def parse_task(header: Header) -> str:
    lines = header.get("task", [])
    text = " ".join(line.read(_REST, "a task").group().strip() for line in lines).strip()
    return _unquote(text, lines[0]) if text.startswith('"') else text


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
        outputs = [(output.name, output.low, output.high, output.unit) for output in _features(header["outputs"])]
        return Continuous(*zip(*outputs, strict=True)) if outputs else Continuous((), (), ())
    names = tuple(match.group() for line in header[kinds[0]] for match in line.items(_NAME, "a name"))
    if kinds == ["actions"]:
        return Discrete(names)
    pairs = chain.from_iterable(map(_actuators, header["actuators"]))
    bounds = list(islice(pairs, MAX_NAMES + 1))  # one too many is enough to be refused
    return Primitives(names, tuple(low for low, _ in bounds), tuple(high for _, high in bounds))


def _features(lines: list[Tokens]) -> Iterator[Feature]:
    for line in lines:
        for match in line.items(_FEATURE, "a name"):
            unit = _unquote(match["quoted_unit"], line) or (match["unit"] or "").strip()
            yield Feature(match["name"], unit, *_bounds(match), _unquote(match["meaning"], line))


def _actuators(line: Tokens) -> Iterator[tuple[float, float]]:
    """The bounds of `3 in [-1, 1]`, three times, or of `[-1, 1]`, once."""
    for match in line.items(_ACTUATORS, "bounds such as [-1, 1]"):
        number = int((match["count"] or "1")[:8])
        if not 1 <= number <= MAX_NAMES:
            raise line.current.error(f"between 1 and {MAX_NAMES} actuators")
        yield from [_bounds(match)] * number


def _bounds(match: re.Match[str]) -> tuple[float, float]:
    if match["low"] is None:
        return -inf, inf
    return float(match["low"].replace("−", "-")), float(match["high"].replace("−", "-"))


def _unquote(string: str | None, line: Tokens) -> str:
    """The text that a quoted string stands for."""
    try:
        return json.loads(string) if string else ""
    except ValueError:
        raise line.current.error("quoted text with valid escapes") from None

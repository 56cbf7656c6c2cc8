"""Runs the part of Structured Text that the exporter writes, over whole batches at once."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError

Values = dict[str, NDArray[Any]]
Mask = NDArray[np.bool_]

_COMMENT = re.compile(r"\(\*.*?\*\)", re.DOTALL)
_TEST = re.compile(r"(IF|ELSIF) (.+) ([<>]) (\S+) THEN")
_ASSIGNMENT = re.compile(r"(\S+) := (.+);")
_TERM = re.compile(r"\s*([-+]?)\s*(?:(\d[\d.]*(?:E[-+]?\d+)?)(?: \* )?)?([A-Za-z][\w\[\]]*)?")


def execute(text: str, values: Values, count: int) -> Values:
    """The variables after the body of a function block has run on `count` observations side by side."""
    values = dict(values)
    body = _COMMENT.sub("", text).rsplit("END_VAR", 1)[-1].removesuffix("END_FUNCTION_BLOCK\n")
    active: Mask = np.ones(count, bool)
    stack: list[tuple[Mask, Mask]] = []
    with np.errstate(all="ignore"):
        for line in filter(None, map(str.strip, body.splitlines())):
            active = _statement(line, values, active, stack)
    if stack:
        raise DiprlError("the Structured Text ends inside of an IF")
    return values


def _statement(line: str, values: Values, active: Mask, stack: list[tuple[Mask, Mask]]) -> Mask:
    """Run one line; the stack holds for each open IF who entered it and who has taken no branch yet."""
    if match := _TEST.fullmatch(line):
        if match[1] == "IF":
            stack.append((active, active))
        outer, waiting = stack[-1]
        left, right = _linear(match[2], values, len(active)), float(match[4])
        taken = waiting & (left > right if match[3] == ">" else left < right)
        stack[-1] = (outer, waiting & ~taken)
        return taken
    if line == "ELSE":
        return stack[-1][1]
    if line == "END_IF;":
        return stack.pop()[0]
    if match := _ASSIGNMENT.fullmatch(line):
        before = values.get(match[1], np.zeros(len(active)))
        values[match[1]] = np.where(active, _linear(match[2], values, len(active)), before)
        return active
    raise DiprlError(f"this is no Structured Text that the exporter writes: '{line}'")


def _linear(text: str, values: Values, count: int) -> NDArray[Any]:
    """Add the terms of a linear form from left to right."""
    total: Any = None
    position = 0
    while position < len(text):
        match = _TERM.match(text, position)
        if match is None or match.end() == position:
            raise DiprlError(f"this is no linear form: '{text}'")
        position = match.end()
        term: Any = values[match[3]] if match[3] else np.ones(count)
        term = term * float(match[2]) if match[2] else term
        term = -term if match[1] == "-" else term
        total = term if total is None else total + term
    return total

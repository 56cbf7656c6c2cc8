"""Runs function blocks of the exporter, statement by statement, on many observations side by side."""

import operator
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.export import Written
from diprl.export.st import _variables
from diprl.program import Discrete

Values = dict[str, NDArray[Any]]
Mask = NDArray[np.bool_]

_COMMENT = re.compile(r"\(\*.*?\*\)", re.DOTALL)
_TEST = re.compile(r"(IF|ELSIF) (.+) THEN")
_COMPARISONS = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}
_ASSIGNMENT = re.compile(r"(\S+) := (.+);")


def run_block(written: Written) -> tuple[NDArray[Any], NDArray[Any]]:
    """The actions and the statuses of a written function block."""
    program, samples = written.program, written.samples
    inputs, outputs = _variables(program)
    values = dict(zip(inputs.features, samples.features.T, strict=True))
    if samples.primitive_actions is not None:
        for names, actions in zip(inputs.entries, samples.primitive_actions.transpose(1, 2, 0), strict=True):
            values |= dict(zip(names, actions, strict=True))
    found = _execute(written.files[0].read_text(encoding="utf-8"), values, len(samples))
    action = np.stack([found[name] for name in outputs], axis=1)
    return action[:, 0].astype(np.int64) if isinstance(program.signature.actions, Discrete) else action, found["status"]


def _execute(text: str, values: Values, count: int) -> Values:
    """The variables after the body of a function block has run on `count` observations side by side."""
    values = dict(values)
    body = _COMMENT.sub("", text).rsplit("\nEND_VAR\n", 1)[-1].removesuffix("END_FUNCTION_BLOCK\n")
    body = re.sub(r" (AND|OR)\n +", r" \1 ", body)
    active: Mask = np.ones(count, bool)
    stack: list[tuple[Mask, Mask]] = []
    with np.errstate(all="ignore"):
        for line in filter(None, map(str.strip, body.splitlines())):
            active = _statement(line, values, active, stack)
    if stack:
        raise AssertionError("the Structured Text ends inside of an IF")
    return values


def _statement(line: str, values: Values, active: Mask, stack: list[tuple[Mask, Mask]]) -> Mask:
    """Run one line; the stack holds for each open IF who entered it and who has taken no branch yet."""
    if match := _TEST.fullmatch(line):
        if match[1] == "IF":
            stack.append((active, active))
        outer, waiting = stack[-1]
        taken = waiting & _holds(match[2], values, len(active))
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
    raise AssertionError(f"this is no Structured Text that the exporter writes: '{line}'")


def _holds(text: str, values: Values, count: int) -> Mask:
    """One comparison, several with OR between them, or NOT before several with AND."""
    found = []
    for comparison in re.findall(r"\(([^()]+)\)", text) or [text]:
        left, sign, right = comparison.rsplit(" ", 2)
        found.append(_COMPARISONS[sign](_linear(left, values, count), float(right)))
    return ~np.all(found, axis=0) if text.startswith("NOT ") else np.any(found, axis=0)


def _linear(text: str, values: Values, count: int) -> NDArray[Any]:
    """Add the terms of a linear form from left to right."""
    total: Any = None
    for term in text.replace(" - ", " + -").split(" + "):
        *weight, name = term.removeprefix("-").split(" * ")
        value: Any = values[name] if name in values else np.full(count, float(name))
        value = float(weight[0]) * value if weight else value
        value = -value if term.startswith("-") else value
        total = value if total is None else total + value
    return total

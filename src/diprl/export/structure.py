"""What the printers of all target languages share: the order of statements, linear forms and safe names."""

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from diprl.program import Affine, Blend, If, Node, Program
from diprl.program.ast import walk
from diprl.program.names import identifier


class Statement(NamedTuple):
    """One line of a program in whatever language, and what it speaks of."""

    indent: int
    kind: str
    """One of if, elif, else, end, leaf."""
    payload: Any = None
    """The condition of if and elif, the terminal of leaf."""


def returning(root: Node) -> Iterator[Statement]:
    """Statements for languages that return early: no `else`, so that long chains do not nest."""
    stack: list[Statement | tuple[int, Node]] = [(0, root)]
    while stack:
        item = stack.pop()
        if isinstance(item, Statement):
            yield item
            continue
        indent, node = item
        if isinstance(node, If):
            yield Statement(indent, "if", node.condition)
            stack += [(indent, node.orelse), Statement(indent, "end"), (indent + 1, node.then)]
        else:
            yield Statement(indent, "leaf", node)


def chained(root: Node) -> Iterator[Statement]:
    """Statements for languages with if, elif, else and an end."""
    stack: list[Statement | tuple[int, Node]] = [(0, root)]
    while stack:
        item = stack.pop()
        if isinstance(item, Statement):
            yield item
            continue
        indent, node = item
        if not isinstance(node, If):
            yield Statement(indent, "leaf", node)
            continue
        yield Statement(indent, "if", node.condition)
        stack += [Statement(indent, "end"), *_branches(indent, node)]


def _branches(indent: int, node: If) -> list[Statement | tuple[int, Node]]:
    """Everything between an `if` and its end, last statement first."""
    found: list[Statement | tuple[int, Node]] = [(indent + 1, node.then)]
    while isinstance(node.orelse, If):
        node = node.orelse
        found += [Statement(indent, "elif", node.condition), (indent + 1, node.then)]
    found += [Statement(indent, "else"), (indent + 1, node.orelse)]
    return found[::-1]


def linear(
    weights: Sequence[float],
    bias: float,
    names: Sequence[str],
    number: Callable[[float], str] = repr,
    times: str = " * ",
) -> str:
    """A linear form in the order in which the interpreter adds it; `number` prints a non-negative number."""
    text = ""
    for weight, name in zip((*weights, bias), (*names, ""), strict=True):
        if weight == 0.0:
            continue
        sign = ("-" if weight < 0.0 else "") if not text else (" - " if weight < 0.0 else " + ")
        size = abs(weight)
        factor = number(size) if not name else "" if size == 1.0 else number(size) + times
        text += sign + factor + name
    return text or number(0.0)


def read_features(root: Node) -> list[int]:
    """Indices of the features that a tree reads at all."""
    rows: list[Sequence[float]] = []
    for node in walk(root):
        if isinstance(node, If):
            rows.append(node.condition.weights)
        elif isinstance(node, Affine):
            rows += node.weights
    return _used_columns(rows)


def used_primitives(root: Node) -> list[int]:
    """Indices of the primitives that some terminal blends."""
    return _used_columns([node.weights for node in walk(root) if isinstance(node, Blend)])


def _used_columns(rows: Sequence[Sequence[float]]) -> list[int]:
    return [index for index, column in enumerate(zip(*rows, strict=True)) if any(column)]


def safe_names(
    names: Sequence[str], reserved: Collection[str], fold: Callable[[str], str] = str
) -> list[str]:
    """The names, changed where they are reserved, begin with an underscore or are equal once folded."""
    taken = {fold(word) for word in reserved}
    chosen = []
    for name in names:
        base = name if not name.startswith("_") else f"v{name}"
        candidate, number = base, 1
        while fold(candidate) in taken:
            number += 1
            candidate = f"{base}_{number}"
        taken.add(fold(candidate))
        chosen.append(candidate)
    return chosen


def prefix(program: Program) -> str:
    """A name for files and functions, from the task; never that of a standard module or header."""
    name = identifier(program.task).lower()[:60].rstrip("_") if program.task else "program"
    return name if len(name) > 2 and name not in sys.stdlib_module_names else f"{name}_program"

"""Walks a program's branches without recursion, however long its chains are."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from diprl.program.ast import Condition, If, Node, Terminal

Value = TypeVar("Value")


def leaves_along(
    root: Node, start: Value, turn: Callable[[Value, Condition, bool], Value | None]
) -> Iterator[tuple[int, Terminal, Value]]:
    """Each leaf that can be reached: its number as printed, the leaf, and what its path made of `start`.

    `turn` takes the value on one side of a condition, or gives None where that side cannot be entered. It is
    called on arrival: everything in between has been visited and left.
    """
    number = 0
    stack: list[tuple[Node, Callable[[], Value | None]]] = [(root, lambda: start)]
    while stack:
        node, arrive = stack.pop()
        value = arrive()
        if isinstance(node, If):
            for holds, branch in ((False, node.orelse), (True, node.then)):
                entered = partial(turn, value, node.condition, holds) if value is not None else _nothing
                stack.append((branch, entered))
            continue
        if value is not None:
            yield number, node, value
        number += 1


def _nothing() -> None:
    """What arrives in branches behind one that cannot be entered: they are only counted."""

"""Ways from the root of a program to its leaves, and the order of its printed lines; any depth will do."""

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from diprl.program.ast import Condition, If, Node, Terminal


class Decision(NamedTuple):
    """A condition on the way to a node, and which of its branches the way takes."""

    number: int
    """Which condition it is in printing order, counting from zero."""
    condition: Condition
    holds: bool

    @property
    def branch(self) -> str:
        """The name of the branch in the paths of edits."""
        return "then" if self.holds else "else"


Decisions = tuple[Decision, ...]


def ways(root: Node) -> Iterator[tuple[Node, Decisions]]:
    """Every node in printing order, with the conditions on the way to it and whether each must hold."""
    numbers, stack = count(), list[tuple[Node, Decisions]]([(root, ())])
    while stack:
        node, path = stack.pop()
        yield node, path
        if isinstance(node, If):
            number = next(numbers)
            for branch, holds in ((node.orelse, False), (node.then, True)):
                stack.append((branch, (*path, Decision(number, node.condition, holds))))


def leaf_paths(root: Node) -> Iterator[tuple[Terminal, Decisions]]:
    """Every leaf in printing order, with the conditions on its path and whether each must hold."""
    return ((node, path) for node, path in ways(root) if not isinstance(node, If))


def condition_paths(root: Node) -> Iterator[Decisions]:
    """The way to every condition, in printing order."""
    return (path for node, path in ways(root) if isinstance(node, If))


class Statement(NamedTuple):
    """One line of a program in whatever language."""

    indent: int
    kind: str
    """One of if, elif, else, end, leaf."""
    condition: Condition | None = None
    """What if and elif ask for."""
    leaf: Terminal | None = None


def statements(root: Node, returning: bool = False) -> Iterator[Statement]:
    """A program as lines with if, elif, else and an end after each chain.

    Where leaves return, no line needs `else`: each `if` ends after its first branch, so that chains do not nest.
    """
    stack: list[tuple[int, str, Node | None]] = [(0, "if", root)]
    while stack:
        indent, kind, node = stack.pop()
        if not isinstance(node, If):
            yield Statement(indent, kind) if node is None else Statement(indent, "leaf", leaf=node)
            continue
        yield Statement(indent, kind, node.condition)
        if returning:
            stack += [(indent, "if", node.orelse), (indent, "end", None)]
        elif isinstance(node.orelse, If):
            stack.append((indent, "elif", node.orelse))
        else:
            stack += [(indent, "end", None), (indent + 1, "if", node.orelse), (indent, "else", None)]
        stack.append((indent + 1, "if", node.then))

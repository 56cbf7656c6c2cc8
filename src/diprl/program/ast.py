"""The language as frozen data: if/else over linear conditions, with actions at the leaves.

    E := A | if B then E else E
    B := w · f + b > 0           strictly greater, linear in the features f

Every number is a 64-bit float and means what the interpreter does with it: a condition adds its non-zero
terms in feature order, then the bias, and compares with zero. Printers, exports and proofs follow that order.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Condition:
    """True when weights · features + bias > 0."""

    weights: tuple[float, ...]
    """One per feature of the signature, in its order; zero means the feature is not read."""
    bias: float


@dataclass(frozen=True)
class Act:
    """Take one discrete action."""

    action: int
    """Index into the signature's actions."""


@dataclass(frozen=True)
class Blend:
    """Mix the primitives' actions by fixed weights."""

    weights: tuple[float, ...]
    """One per primitive; non-negative, summing to one."""


@dataclass(frozen=True)
class Affine:
    """Compute each output as an affine function of the features."""

    weights: tuple[tuple[float, ...], ...]
    """One row per output, one column per feature."""
    bias: tuple[float, ...]


Terminal = Act | Blend | Affine


@dataclass(frozen=True)
class If:
    """Run `then` where the condition holds, `orelse` where it does not."""

    condition: Condition
    then: "Node"
    orelse: "Node"


Node = If | Act | Blend | Affine


def walk(node: Node) -> Iterator[Node]:
    """Every node of the program, parents first, `then` before `orelse`."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        if isinstance(current, If):
            stack += [current.orelse, current.then]


def conditions(node: Node) -> list[Condition]:
    return [inner.condition for inner in walk(node) if isinstance(inner, If)]


def terminals(node: Node) -> list[Terminal]:
    """The leaves, in the order in which they are printed."""
    return [leaf for leaf in walk(node) if not isinstance(leaf, If)]


def rebuild(
    root: Node, condition: Callable[[Condition], Condition], terminal: Callable[[Terminal], Node]
) -> Node:
    """The same tree with every condition and every terminal replaced, however deep it is."""
    built: list[Node] = []
    for node in reversed(list(walk(root))):
        if isinstance(node, If):
            built.append(If(condition(node.condition), built.pop(), built.pop()))
        else:
            built.append(terminal(node))
    return built[0]


def depth(node: Node) -> int:
    """The paper's depth, the longest chain of actions: 1 for a bare action, d for d − 1 chained ifs."""
    deepest, stack = 0, [(node, 1)]
    while stack:
        current, level = stack.pop()
        deepest = max(deepest, level)
        if isinstance(current, If):
            stack += [(current.then, level + 1), (current.orelse, level + 1)]
    return deepest


def coefficients(node: Node) -> int:
    """How many non-zero numbers a reader has to look at, in conditions, affine terminals and true blends."""
    rows: list[tuple[float, ...]] = [(*c.weights, c.bias) for c in conditions(node)]
    for leaf in terminals(node):
        if isinstance(leaf, Affine):
            rows += [(*row, bias) for row, bias in zip(leaf.weights, leaf.bias, strict=True)]
        elif isinstance(leaf, Blend):
            rows += [leaf.weights] if max(leaf.weights) < 1.0 else []
    return sum(value != 0.0 for row in rows for value in row)

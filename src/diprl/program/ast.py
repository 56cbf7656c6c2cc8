"""The language as frozen data: if/else over linear conditions, with actions at the leaves.

    E := A | if B then E else E
    B := w · f + b > 0           strictly greater, linear in the features f

Every number is a 64-bit float and means what the interpreter does with it: a condition adds its non-zero
terms in feature order, then the bias, and compares with zero. Printers, exports and proofs follow that order.

A program may be a chain of thousands of conditions, so nothing here calls itself.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar


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


@dataclass(frozen=True, eq=False)
class If:
    """Run `then` where the condition holds, `orelse` where it does not."""

    condition: Condition
    then: "Node"
    orelse: "Node"

    def __eq__(self, other: object) -> bool:
        """Compare item by item; no list of items is the beginning of another tree's."""
        if not isinstance(other, If):
            return NotImplemented
        return all(ours == theirs for ours, theirs in zip(flatten(self), flatten(other), strict=False))

    def __hash__(self) -> int:
        return hash(tuple(flatten(self)))


Node = If | Terminal
Item = Condition | Terminal
Result = TypeVar("Result")


def walk(root: Node) -> Iterator[Node]:
    """Every node of the program in printing order: parents first, `then` before `orelse`."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, If):
            stack += [node.orelse, node.then]


def flatten(root: Node) -> Iterator[Item]:
    """Conditions and terminals in printing order, which is all that `assemble` needs."""
    return (node.condition if isinstance(node, If) else node for node in walk(root))


def assemble(items: Iterable[Item]) -> Node:
    """The program whose conditions and terminals these are in printing order."""
    return fold(items, lambda leaf: leaf, If)


def fold(
    items: Iterable[Item], terminal: Callable[[Terminal], Result], branch: Callable[[Condition, Result, Result], Result]
) -> Result:
    """Compute a result from the leaves up; `branch` gets a condition and the results of `then` and `orelse`."""
    results: list[Result] = []
    for item in reversed(list(items)):
        if isinstance(item, Condition):
            results.append(branch(item, results.pop(), results.pop()))
        else:
            results.append(terminal(item))
    return results[0]


def conditions(root: Node) -> list[Condition]:
    """The conditions in printing order."""
    return [item for item in flatten(root) if isinstance(item, Condition)]


def terminals(root: Node) -> list[Terminal]:
    """The leaves in printing order."""
    return [node for node in walk(root) if not isinstance(node, If)]


def depth(root: Node) -> int:
    """The paper's depth, the longest chain of actions: 1 for a bare action, d for d − 1 chained ifs."""
    return fold(flatten(root), lambda _: 1, lambda _, then, orelse: 1 + max(then, orelse))


def nesting(root: Node) -> int:
    """How many `if`s stand inside each other's `then` branches, which is how far the text is indented."""
    return fold(flatten(root), lambda _: 0, lambda _, then, orelse: max(then + 1, orelse))


def is_chain(root: Node) -> bool:
    """Whether no `if` stands inside a `then` branch, so that the text is one if/elif/else."""
    return nesting(root) <= 1


def merge_branches(root: Node) -> Node:
    """The same program without the conditions that decide nothing: both of their branches are equal."""

    def merge(condition: Condition, then: Node, orelse: Node) -> Node:
        return then if then == orelse else If(condition, then, orelse)

    return fold(flatten(root), lambda leaf: leaf, merge)


def number_rows(item: Item) -> list[tuple[float, ...]]:
    """The numbers of each linear form of a condition or terminal: its weights, then its bias if it has one."""
    if isinstance(item, Condition):
        return [(*item.weights, item.bias)]
    if isinstance(item, Affine):
        return [(*row, bias) for row, bias in zip(item.weights, item.bias, strict=True)]
    return [item.weights] if isinstance(item, Blend) else []


def with_number_rows(item: Item, rows: Sequence[tuple[float, ...]]) -> Item:
    """The same kind of condition or terminal with other numbers, given as `number_rows` lists them."""
    if isinstance(item, Condition):
        return Condition(rows[0][:-1], rows[0][-1])
    if isinstance(item, Affine):
        return Affine(tuple(row[:-1] for row in rows), tuple(row[-1] for row in rows))
    return Blend(rows[0]) if isinstance(item, Blend) else item


def coefficients(root: Node) -> int:
    """How many non-zero numbers a reader has to look at, in conditions, affine terminals and true blends."""
    shown = [item for item in flatten(root) if not isinstance(item, Blend) or max(item.weights) < 1.0]
    return sum(value != 0.0 for item in shown for row in number_rows(item) for value in row)

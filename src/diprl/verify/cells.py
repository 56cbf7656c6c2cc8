"""The parts of the state space on which a program does one thing, found by walking its branches."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from diprl.program.ast import Affine, Condition, If, Node, Terminal
from diprl.program.signature import Continuous, Signature
from diprl.verify.constraint import Constraint, Weights, exact, of_condition
from diprl.verify.question import Question

Place = Callable[[Weights], Weights]
"""Where a program is evaluated: turns weights of features into weights of the question's variables."""
Margin = Callable[[Condition], Fraction]
"""By how much a condition's value may be off."""


@dataclass(frozen=True)
class Leaf:
    """A terminal, its number in the order in which terminals are printed, and where it was evaluated."""

    number: int
    terminal: Terminal
    place: Place


@dataclass(frozen=True)
class _Visit:
    node: Node
    given: tuple[Constraint, ...]
    alive: bool


def same(weights: Weights) -> Weights:
    """The features are the question's variables."""
    return weights


def padded(extra: int) -> Place:
    """The features are the first of the question's variables."""
    return lambda weights: (*weights, *[Fraction(0)] * extra)


def no_margin(_: Condition) -> Fraction:
    return Fraction(0)


def cells(
    question: Question,
    root: Node,
    place: Place = same,
    margin: Margin = no_margin,
    thresholds: bool = True,
) -> Iterator[Leaf]:
    """Each leaf that a point of the question reaches; while it is yielded, the question asks for that leaf.

    Without `thresholds`, points on the threshold of a condition that decides are left out.
    """
    number, open_levels = 0, 0
    stack: list[_Visit | None] = [_Visit(root, (), True)]
    try:
        while stack:
            visit = stack.pop()
            if visit is None:
                question.pop()
                open_levels -= 1
                continue
            alive = visit.alive
            if alive:
                question.push(*visit.given)
                open_levels += 1
                stack.append(None)
                alive = question.feasible()
            if isinstance(visit.node, If):
                stack += _branches(visit.node, place, margin, thresholds) if alive else _counted(visit.node)
                continue
            if alive:
                yield Leaf(number, visit.node, place)
            number += 1
    finally:
        for _ in range(open_levels):
            question.pop()


def _branches(node: If, place: Place, margin: Margin, thresholds: bool) -> list[_Visit | None]:
    """The branches to visit, the last one first."""
    off = margin(node.condition)
    visits: list[_Visit | None] = []
    for holds, branch in ((False, node.orelse), (True, node.then)):
        given = placed(of_condition(node.condition, holds), place, off)
        visits.append(_Visit(branch, (given if thresholds else given.open(),), True))
    return visits


def _counted(node: If) -> list[_Visit | None]:
    """The branches of a dead one, which are only counted."""
    return [_Visit(node.orelse, (), False), _Visit(node.then, (), False)]


def placed(constraint: Constraint, place: Place, off: Fraction = Fraction(0)) -> Constraint:
    """A constraint on features as one on a question's variables, loosened by `off`."""
    return Constraint(place(constraint.weights), constraint.bias + off, constraint.strict)


@dataclass(frozen=True)
class Piece:
    """Where an output is a linear form of the variables, and which."""

    given: tuple[Constraint, ...]
    weights: Weights
    bias: Fraction


def output_pieces(leaf: Leaf, output: int, actions: Continuous, sign: int = 1) -> list[Piece]:
    """A clipped output, or its negative, in up to three pieces: at its low bound, in between, at its high one."""
    terminal = leaf.terminal
    assert isinstance(terminal, Affine)  # programs over continuous actions have no other terminals
    weights = leaf.place(exact(terminal.weights[output]))
    bias = Fraction(terminal.bias[output])
    between: list[Constraint] = []
    pieces = []
    for bound, side in ((actions.low[output], 1), (actions.high[output], -1)):
        if abs(bound) == float("inf"):
            continue
        inside = Constraint(tuple(side * weight for weight in weights), side * (bias - Fraction(bound)), strict=False)
        between.append(inside)
        constant = Piece((inside.negated(),), tuple(Fraction(0) for _ in weights), sign * Fraction(bound))
        pieces.append(constant)
    return [*pieces, Piece(tuple(between), tuple(sign * weight for weight in weights), sign * bias)]


def disagreements(
    first: Leaf, second: Leaf, signature: Signature, tolerance: Fraction = Fraction(0), sign: int = 1
) -> Iterator[tuple[Constraint, ...]]:
    """Under what further conditions two leaves act differently; an empty tuple where they always do.

    `sign` is −1 where the second one's outputs should be the negative of the first one's.
    """
    actions = signature.actions
    if not isinstance(actions, Continuous):
        if first.terminal != second.terminal:
            yield ()
        return
    for output in range(len(actions.names)):
        ours, theirs = output_pieces(first, output, actions), output_pieces(second, output, actions, sign)
        for one, other in product(ours, theirs):
            for more, less in ((one, other), (other, one)):
                apart = tuple(a - b for a, b in zip(more.weights, less.weights, strict=True))
                gap = Constraint(apart, more.bias - less.bias - tolerance, strict=True)
                yield (*one.given, *other.given, gap)

"""The parts of the state space on which programs do one thing, and on which their clipped outputs are linear."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product, zip_longest
from math import isinf
from typing import NamedTuple, TypeVar

from diprl.program import Program
from diprl.program.ast import Affine, Condition, If, Node, Terminal
from diprl.program.evaluate import terminal_at, vector
from diprl.program.signature import Continuous
from diprl.verify.exact.linear import EXACT, Constraint, Errors, Place, State, Weights, dot, exact, of_condition, placed
from diprl.verify.exact.question import Question

Value = TypeVar("Value")
Evaluated = tuple[str, Program, Place]
"""A program that is evaluated at a place; the label names the state there."""
Way = tuple[Constraint, ...]
"""Further conditions under which something happens at a leaf; empty where it always does."""


@dataclass(frozen=True)
class Leaf:
    """A terminal of a program that is reached, and how it was evaluated."""

    program: Program
    terminal: Terminal
    place: Place
    errors: Errors
    number: int = -1
    """Its number in the order in which terminals are printed, where it is known."""
    outputs: tuple[float, ...] | None = None
    """What the interpreter gave, where it was asked; there are no variables then."""


def leaves_along(
    root: Node, start: Value, turn: Callable[[Value, Condition, bool], Value | None]
) -> Iterator[tuple[int, Terminal, Value]]:
    """Each leaf that can be reached: its number as printed, the leaf, and what its path made of `start`.

    `turn` takes the value on one side of a condition, or gives None where that side cannot be entered. It is
    called on arrival: everything in between has been visited and left.
    """
    number = 0
    stack: list[tuple[Node, Value | None, Condition | None, bool]] = [(root, start, None, True)]
    while stack:
        node, value, condition, holds = stack.pop()
        if value is not None and condition is not None:
            value = turn(value, condition, holds)
        if isinstance(node, If):
            stack += [(node.orelse, value, node.condition, False), (node.then, value, node.condition, True)]
            continue
        if value is not None:
            yield number, node, value
        number += 1


def cells(
    question: Question, evaluated: Sequence[Evaluated], errors: Errors = EXACT, thresholds: bool = True
) -> Iterator[tuple[Leaf, ...]]:
    """The leaves that a point of the question reaches, one for each program and place where it is evaluated.

    While they are yielded, the question asks for those leaves. Without `thresholds`, points on the threshold of
    a condition that decides are left out. A condition that reads no feature has no threshold.
    """
    if not evaluated:
        yield ()
        return
    (_, program, place), *rest = evaluated

    def turn(depth: int, condition: Condition, holds: bool) -> int | None:
        question.back_to(depth)
        given = of_condition(condition, holds).at(place)
        loosened = given.bias + errors.get((condition.weights, condition.bias), 0)
        strict = given.strict or (not thresholds and any(given.weights))
        question.push(replace(given, bias=loosened, strict=strict))
        return question.depth if question.feasible() else None

    depth = question.depth
    try:
        if question.feasible():
            for number, terminal, _ in leaves_along(program.root, depth, turn):
                for others in cells(question, rest, errors, thresholds):
                    yield Leaf(program, terminal, place, errors, number), *others
    finally:
        question.back_to(depth)


def interpreted(program: Program, state: State) -> Leaf:
    """What the interpreter reaches and gives at a state."""
    terminal, actions = terminal_at(program.root, state), program.signature.actions
    outputs = None
    if isinstance(terminal, Affine) and isinstance(actions, Continuous):
        outputs = tuple(map(float, vector(terminal, state, actions)))
    return Leaf(program, terminal, (), EXACT, outputs=outputs)


class Piece(NamedTuple):
    """Where an output is a linear form of the variables, which, and by how much rounding may have it off."""

    given: Way
    weights: Weights
    bias: Fraction
    error: Fraction


def output_pieces(leaf: Leaf, output: int) -> list[Piece]:
    """A clipped output in up to three pieces: at its bounds, and in between; clipping makes no error larger."""
    actions = leaf.program.signature.actions
    assert isinstance(actions, Continuous)  # others have no outputs to ask about
    whole = _before_clipping(leaf, output)
    between: list[Constraint] = []
    pieces = []
    for bound, side in ((actions.low[output], 1), (actions.high[output], -1)):
        if not isinf(bound):
            towards = tuple(side * weight for weight in whole.weights)
            inside = Constraint(towards, side * (whole.bias - Fraction(bound)), strict=False)
            between.append(inside)
            pieces.append(Piece((inside.negated(),), (Fraction(0),) * len(towards), Fraction(bound), whole.error))
    return [*pieces, whole._replace(given=tuple(between))]


def _before_clipping(leaf: Leaf, output: int) -> Piece:
    if leaf.outputs is not None:
        return Piece((), (), Fraction(leaf.outputs[output]), Fraction(0))
    assert isinstance(leaf.terminal, Affine)  # programs over continuous actions have no other terminals
    row, bias = leaf.terminal.weights[output], leaf.terminal.bias[output]
    return Piece((), placed(exact(row), leaf.place), Fraction(bias), leaf.errors.get((row, bias), Fraction(0)))


def ways_above_zero(
    terms: Sequence[tuple[Fraction | int, Leaf, int]], bias: Fraction | int = 0, strict: bool = True
) -> Iterator[Way]:
    """Where a sum of factors times outputs of leaves, plus a bias, may come out above zero."""
    factors = tuple(Fraction(factor) for factor, _, _ in terms)
    for pieces in product(*(output_pieces(leaf, output) for _, leaf, output in terms)):
        columns = zip_longest(*(piece.weights for piece in pieces), fillvalue=Fraction(0))
        weights = tuple(dot(factors, column) for column in columns)
        error = dot(tuple(map(abs, factors)), [piece.error for piece in pieces])
        total = dot(factors, [piece.bias for piece in pieces]) + bias + error
        given = [constraint for piece in pieces for constraint in piece.given]
        yield (*given, Constraint(weights, total, strict))


def disagreements(first: Leaf, second: Leaf, tolerance: Fraction = Fraction(0), sign: int = 1) -> Iterator[Way]:
    """Where two leaves act differently; with `sign` −1, where one's outputs are not the negative of the other's."""
    actions = first.program.signature.actions
    if isinstance(actions, Continuous):
        for output, side in product(range(len(actions.names)), (1, -1)):
            yield from ways_above_zero([(side, first, output), (-side * sign, second, output)], -tolerance)
    elif first.terminal != second.terminal:
        yield ()

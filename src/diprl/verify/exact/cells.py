"""The parts of the state space on which programs do one thing."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from diprl.program import Program
from diprl.program.ast import Affine, Condition, If, Node, Terminal
from diprl.program.evaluate import terminal_at, vector
from diprl.program.signature import Continuous
from diprl.verify.exact.linear import Place, State, of_condition
from diprl.verify.exact.question import Question
from diprl.verify.exact.rounding import EXACT, Errors

Value = TypeVar("Value")
Evaluated = tuple[str, Program, Place]
"""A program that is evaluated at a place; the label names the state there."""


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


def cells(
    question: Question, program: Program, place: Place, errors: Errors = EXACT, thresholds: bool = True
) -> Iterator[Leaf]:
    """Each leaf that a point of the question reaches; while it is yielded, the question asks for that leaf.

    Without `thresholds`, points on the threshold of a condition that decides are left out. A condition that
    reads no feature has no threshold.
    """

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
                yield Leaf(program, terminal, place, errors, number)
    finally:
        question.back_to(depth)


def joint_cells(
    question: Question, evaluated: Sequence[Evaluated], errors: Errors = EXACT, thresholds: bool = True
) -> Iterator[tuple[Leaf, ...]]:
    """The leaves that one point reaches together, where programs are evaluated at one or several places."""
    if not evaluated:
        yield ()
        return
    (_, program, place), *rest = evaluated
    for leaf in cells(question, program, place, errors, thresholds):
        for others in joint_cells(question, rest, errors, thresholds):
            yield (leaf, *others)


def interpreted(program: Program, state: State) -> Leaf:
    """What the interpreter reaches and gives at a state."""
    terminal, actions = terminal_at(program.root, state), program.signature.actions
    outputs = None
    if isinstance(terminal, Affine) and isinstance(actions, Continuous):
        outputs = tuple(vector(terminal, state, actions.low, actions.high))
    return Leaf(program, terminal, Place(0, ()), EXACT, outputs=outputs)

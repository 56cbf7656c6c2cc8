"""The parts of the state space on which programs do one thing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diprl.program import Program
from diprl.program.ast import Affine, Condition, Terminal
from diprl.program.evaluate import terminal_at, vector
from diprl.program.signature import Continuous
from diprl.verify.exact.linear import Place, State, of_condition
from diprl.verify.exact.question import Question
from diprl.verify.exact.rounding import Margin, no_margin
from diprl.verify.exact.walk import leaves_along


@dataclass(frozen=True)
class Leaf:
    """A terminal that is reached, and how it was evaluated."""

    terminal: Terminal
    place: Place
    margin: Margin = no_margin
    number: int = -1
    """Its number in the order in which terminals are printed, where it is known."""
    outputs: tuple[float, ...] | None = None
    """What the interpreter gave, where it was asked; there are no variables then."""


def cells(
    question: Question, program: Program, place: Place, margin: Margin = no_margin, thresholds: bool = True
) -> Iterator[Leaf]:
    """Each leaf that a point of the question reaches; while it is yielded, the question asks for that leaf.

    Without `thresholds`, points on the threshold of a condition that decides are left out. A condition that
    reads no feature has no threshold.
    """

    def turn(depth: int, condition: Condition, holds: bool) -> int | None:
        question.back_to(depth)
        given = of_condition(condition, holds).at(place).looser(margin(condition.weights, condition.bias))
        question.push(given if thresholds or not any(given.weights) else given.open())
        return question.depth if question.feasible() else None

    depth = question.depth
    try:
        if question.feasible():
            for number, terminal, _ in leaves_along(program.root, depth, turn):
                yield Leaf(terminal, place, margin, number)
    finally:
        question.back_to(depth)


def joint_cells(
    question: Question,
    evaluated: Sequence[tuple[Program, Place]],
    margin: Margin = no_margin,
    thresholds: bool = True,
) -> Iterator[tuple[Leaf, ...]]:
    """The leaves that one point reaches together, where programs are evaluated at one or several places."""
    if not evaluated:
        yield ()
        return
    (program, place), rest = evaluated[0], evaluated[1:]
    for leaf in cells(question, program, place, margin, thresholds):
        for others in joint_cells(question, rest, margin, thresholds):
            yield (leaf, *others)


def interpreted(program: Program, state: State) -> Leaf:
    """What the interpreter reaches and gives at a state."""
    terminal, actions = terminal_at(program.root, state), program.signature.actions
    outputs = None
    if isinstance(terminal, Affine) and isinstance(actions, Continuous):
        outputs = tuple(vector(terminal, state, actions.low, actions.high))
    return Leaf(terminal, Place(0, ()), outputs=outputs)

"""The parts of the state space on which a program does one thing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diprl.program.ast import Condition, Node, Terminal
from diprl.verify.exact.constraint import Place, of_condition, same
from diprl.verify.exact.question import Question
from diprl.verify.exact.rounding import Margin, no_margin
from diprl.verify.exact.walk import leaves_along


@dataclass(frozen=True)
class Leaf:
    """A terminal, its number in the order in which terminals are printed, and how it was evaluated."""

    number: int
    terminal: Terminal
    place: Place
    margin: Margin


def cells(
    question: Question, root: Node, place: Place = same, margin: Margin = no_margin, thresholds: bool = True
) -> Iterator[Leaf]:
    """Each leaf that a point of the question reaches; while it is yielded, the question asks for that leaf.

    Without `thresholds`, points on the threshold of a condition that decides are left out. A condition that
    reads no feature has no threshold.
    """

    def turn(depth: int, condition: Condition, holds: bool) -> int | None:
        question.back_to(depth)
        given = of_condition(condition, holds).at(place, margin(condition.weights, condition.bias))
        question.push(given if thresholds or not any(given.weights) else given.open())
        return question.depth if question.feasible() else None

    depth = question.depth
    try:
        if question.feasible():
            for number, terminal, _ in leaves_along(root, depth, turn):
                yield Leaf(number, terminal, place, margin)
    finally:
        question.back_to(depth)


def joint_cells(
    question: Question,
    evaluated: Sequence[tuple[Node, Place]],
    margin: Margin = no_margin,
    thresholds: bool = True,
) -> Iterator[tuple[Leaf, ...]]:
    """The leaves that one point reaches together, where programs are evaluated at one or several places."""
    if not evaluated:
        yield ()
        return
    (root, place), rest = evaluated[0], evaluated[1:]
    for leaf in cells(question, root, place, margin, thresholds):
        for others in joint_cells(question, rest, margin, thresholds):
            yield (leaf, *others)

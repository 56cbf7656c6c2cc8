"""Is every branch of a program reached by some state of a box, and where does each one act?"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from diprl.program.ast import Node, Terminal, terminals
from diprl.program.paths import leaf_paths
from diprl.verify.context import Context, leaf_text
from diprl.verify.exact.cells import Leaf, cells
from diprl.verify.exact.linear import Box, Constraint, State, all_text, of_condition
from diprl.verify.properties.counterexamples import rounded_points
from diprl.verify.report import Answer, named_text
from diprl.verify.spec.asked import Asked

_LISTED = 100
"""More dead branches than this are counted, not listed."""
_READABLE = 16
"""More regions than this are counted, not listed."""


@dataclass(frozen=True)
class Branches:
    """Every branch is reached by some state of the box."""

    name: str
    box: Box

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Branches":
        return cls(name, asked.box)

    def check(self, context: Context) -> Answer:
        """Proved with a state per branch; refuted by branches that no state of the box reaches."""
        reached = self._reached(context)
        leaves = terminals(context.program.root)
        dead = [number for number in range(len(leaves)) if number not in reached]
        if dead:
            sentence = f"no state reaches {len(dead)} of {len(leaves)} branches"
            return Answer("refuted", sentence, _listed(context, dead, " is dead"))
        unconfirmed = [number for number, state in reached.items() if state is None]
        if unconfirmed:
            sentence = "some branches are reached in real arithmetic, but by no float64 state that was tried"
            return Answer("unknown", sentence, _listed(context, unconfirmed))
        lines = tuple(
            f"branch {number + 1} ({leaf_text(context.program, leaves[number])}) at {named_text(context.named(state))}"
            for number, state in reached.items()
            if state is not None
        )
        count = f"all {len(leaves)} branches are" if len(leaves) > 1 else "the only branch is"
        return Answer("proved", f"{count} reached, each by a state that the interpreter confirms", lines)

    def _reached(self, context: Context) -> dict[int, State | None]:
        """The branches that real arithmetic reaches, each with a state that the interpreter confirms."""
        question, program = context.question(self.box), context.program
        reached = {}
        for (leaf,) in cells(question, context.evaluated):
            points = (self.box.clamp(values) for values in rounded_points(context, question.point()))
            confirmed = (state for state in points if program.branch_batch([state])[0] == leaf.number)
            reached[leaf.number] = next(confirmed, None)
        return reached


def _listed(context: Context, numbers: Sequence[int], what: str = "") -> tuple[str, ...]:
    """Branches with the conditions on the way to each, unless they are too many."""
    paths = _paths(context.program.root, numbers[:_LISTED])
    lines = [f"branch {number + 1}{what}: {acts_text(context, *path)}" for number, path in paths.items()]
    return (*lines, f"and {len(numbers) - _LISTED} more") if len(numbers) > _LISTED else tuple(lines)


def _paths(root: Node, numbers: Iterable[int]) -> dict[int, tuple[Terminal, list[Constraint]]]:
    """The terminals of some branches, each with the conditions on the way to it."""
    wanted = set(numbers)
    return {
        number: (leaf, [of_condition(decision.condition, decision.holds) for decision in path])
        for number, (leaf, path) in enumerate(leaf_paths(root))
        if number in wanted
    }


def acts_text(context: Context, terminal: Terminal, where: Sequence[Constraint]) -> str:
    """What is done, and `where …` or `everywhere`."""
    place = f"where {all_text(where, context.names)}" if where else "everywhere"
    return f"{leaf_text(context.program, terminal)} {place}"


def regions_text(
    context: Context,
    box: Box,
    leaves: Sequence[Leaf],
    more: Callable[[Terminal, Sequence[Constraint]], str] = lambda _terminal, _where: "",
) -> list[str]:
    """What some leaves do and where, and `more` about each, unless they are too many to read."""
    if len(leaves) > _READABLE:
        return [f"{len(leaves)} branches act in the box"]
    found = []
    for terminal, path in _paths(context.program.root, [leaf.number for leaf in leaves]).values():
        where = _needed(context, box, path)
        found.append(acts_text(context, terminal, where) + more(terminal, where))
    return found


def _needed(context: Context, box: Box, path: list[Constraint]) -> list[Constraint]:
    """The conditions that do not follow from the others and the box."""
    needed = path
    for constraint in path:
        others = [other for other in needed if other is not constraint]
        if not context.question(box, [*others, constraint.negated()]).feasible():
            needed = others
    return needed

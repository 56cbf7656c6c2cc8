"""Is every branch of a program reached by some state of a box?"""

from dataclasses import dataclass
from typing import ClassVar

from diprl.program.ast import terminals
from diprl.verify.context import Context, leaf_text
from diprl.verify.exact.cells import cells
from diprl.verify.exact.linear import Box, State
from diprl.verify.properties.counterexamples import rounded_points
from diprl.verify.properties.regions import branch_text, path_to
from diprl.verify.report import Answer, named_text
from diprl.verify.spec.asked import Asked

_LISTED = 100
"""More dead branches than this are counted, not listed."""


@dataclass(frozen=True)
class Branches:
    """Every branch is reached by some state of the box."""

    kind: ClassVar[str] = "branches"
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
        for leaf in cells(question, program, context.place):
            points = (self.box.clamp(values) for values in rounded_points(context, question.point()))
            confirmed = (state for state in points if program.branch_batch([state])[0] == leaf.number)
            reached[leaf.number] = next(confirmed, None)
        return reached


def _listed(context: Context, numbers: list[int], what: str = "") -> tuple[str, ...]:
    """Branches with the conditions on the way to each, unless they are too many."""
    root = context.program.root
    lines = [
        f"branch {number + 1}{what}: {branch_text(context, number, path_to(root, number))}"
        for number in numbers[:_LISTED]
    ]
    return (*lines, f"and {len(numbers) - _LISTED} more") if len(numbers) > _LISTED else tuple(lines)

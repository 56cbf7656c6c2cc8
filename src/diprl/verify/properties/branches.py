"""Is every branch of a program reached by some state of a box?"""

from dataclasses import dataclass
from typing import ClassVar

from diprl.program.ast import terminals
from diprl.verify.context import Context, leaf_text
from diprl.verify.exact.box import Box, State
from diprl.verify.exact.cells import cells
from diprl.verify.exact.regions import path_to, region_text
from diprl.verify.properties.counterexamples import settled
from diprl.verify.report import Answer, named_text
from diprl.verify.spec.fields import Fields
from diprl.verify.spec.scope import Scope

_LISTED = 100
"""More dead branches than this are counted, not listed."""


@dataclass(frozen=True)
class Branches:
    """Every branch is reached by some state of the box."""

    kind: ClassVar[str] = "branches"
    name: str
    box: Box

    @classmethod
    def read(cls, _fields: Fields, name: str, scope: Scope) -> "Branches":
        return cls(name, scope.box)

    def check(self, context: Context) -> Answer:
        """Proved with a state per branch; refuted by branches that no state of the box reaches."""
        reached = self._reached(context)
        leaves = terminals(context.program.root)
        dead = [number for number in range(len(leaves)) if number not in reached]
        if dead:
            lines = [
                f"branch {number + 1} is dead: {_branch_text(context, number)}" for number in dead[:_LISTED]
            ]
            lines += [f"and {len(dead) - _LISTED} more"] if len(dead) > _LISTED else []
            sentence = f"no state reaches {len(dead)} of {len(leaves)} branches"
            return Answer("refuted", sentence, tuple(lines))
        unconfirmed = [number for number, state in reached.items() if state is None]
        if unconfirmed:
            lines = [f"branch {number + 1}: {_branch_text(context, number)}" for number in unconfirmed]
            sentence = "some branches are reached in real arithmetic, but by no float64 state that was tried"
            return Answer("unknown", sentence, tuple(lines))
        lines = [
            f"branch {number + 1} ({leaf_text(context.program, leaves[number])}) at "
            f"{named_text(context.named(state))}"
            for number, state in reached.items()
            if state is not None
        ]
        count = f"all {len(leaves)} branches are" if len(leaves) > 1 else "the only branch is"
        sentence = f"{count} reached, each by a state that the interpreter confirms"
        return Answer("proved", sentence, tuple(lines))

    def _reached(self, context: Context) -> dict[int, State | None]:
        """The branches that real arithmetic reaches, each with a state that the interpreter confirms."""
        question = context.question(self.box)
        reached: dict[int, State | None] = {}
        for leaf in cells(question, context.program.root):
            states = settled(
                context,
                question.point(),
                lambda values: {"state": self.box.clamp(values)},
                lambda states, number=leaf.number: _branch(context, states["state"]) == number,
            )
            reached[leaf.number] = states["state"] if states else None
        return reached


def _branch(context: Context, state: State) -> int:
    return int(context.program.branch_batch([state])[0])


def _branch_text(context: Context, number: int) -> str:
    """The conditions on the way to a branch, and what it does."""
    where = region_text(context, path_to(context.program.root, number))
    return f"{leaf_text(context.program, terminals(context.program.root)[number])} {where}"

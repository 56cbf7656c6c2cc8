"""Does a program take the mirrored action at the mirrored state?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from diprl.program.ast import Act, Affine, Blend, Terminal
from diprl.verify.context import Context
from diprl.verify.exact.cells import Leaf, Way, cells, disagreements
from diprl.verify.exact.linear import Box, Constraint
from diprl.verify.properties.branches import acts_text, regions_text
from diprl.verify.properties.counterexamples import Counterexamples
from diprl.verify.report import Answer, named_text
from diprl.verify.spec.asked import Asked, read_list
from diprl.verify.spec.tree import Tree

_ASSUMED = (
    "states exactly on a threshold are left out, where the strict '>' favours one side",
    "the box is cut down to the states whose mirror image lies in it too",
)


@dataclass(frozen=True)
class Symmetric:
    """At the mirrored state the program takes the mirrored action."""

    kind: ClassVar[str] = "symmetric"
    name: str
    box: Box
    negate: tuple[int, ...]
    """Features that change sign in the mirror."""
    mirror: tuple[int, ...]
    """For each action or primitive, its mirror image; continuous outputs change sign."""

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Symmetric":
        def read_mirror(tree: Tree) -> tuple[int, ...]:
            images = {source: asked.action(entry) for source, entry in asked.by_action(tree)}
            mirror = tuple(images.get(action, action) for action in themselves)
            if sorted(mirror) != list(themselves):
                raise tree.error("'mirror:' must give every action exactly one mirror image")
            return mirror

        themselves = tuple(range(len(asked.actions)))
        everything = tuple(range(len(asked.features)))
        negate = asked.take("negate", lambda tree: read_list(tree, asked.feature), everything)
        mirror = themselves if asked.continuous else asked.take("mirror", read_mirror)
        return cls(name, asked.box, negate, mirror)

    def check(self, context: Context) -> Answer:
        """Examined off the thresholds, which are where a symmetric program need not be symmetric.

        The question's variables are the features of the state.
        """
        image = tuple((index, -1 if index in self.negate else 1) for index in range(len(context.names)))

        def ways(first: Leaf, second: Leaf) -> Iterator[Way]:
            return disagreements(replace(first, terminal=self._image(first.terminal)), second, sign=-1)

        def mirrored(terminal: Terminal, where: Sequence[Constraint]) -> str:
            """The mirror image of a region; outputs are compared with their signs changed."""
            negated = "the negative of " if isinstance(terminal, Affine) else ""
            there = [constraint.at(image) for constraint in where]
            return f"; mirrored: {negated}{acts_text(context, self._image(terminal), there)}"

        found = Counterexamples(
            context,
            (*context.evaluated, ("mirrored state", context.program, image)),
            self.box,
            ways,
            tuple(constraint.at(image) for constraint in self.box.constraints()),
            thresholds=False,
            nothing="every state lies on a threshold or has no mirror image in the box",
        )
        answer = found.answer("the mirrored state gets another action")
        if answer is None:
            question = context.question(self.box)
            leaves = [leaf for (leaf,) in cells(question, context.evaluated, thresholds=False)]
            notes = (*regions_text(context, self.box, leaves, mirrored), _threshold_note(context, found))
            answer = Answer("proved", "every mirrored state off the thresholds gets the mirrored action", notes)
        return replace(answer, assumptions=_ASSUMED)

    def _image(self, terminal: Terminal) -> Terminal:
        """The mirror image of an action; that of outputs is not a terminal."""
        if isinstance(terminal, Act):
            return Act(self.mirror[terminal.action])
        if isinstance(terminal, Blend):
            images = sorted(zip(self.mirror, terminal.weights, strict=True))
            return Blend(tuple(weight for _, weight in images))
        return terminal


def _threshold_note(context: Context, found: Counterexamples) -> str:
    """Whether the states that were left out are symmetric too."""
    exception, unconfirmed = replace(found, thresholds=True).first()
    if exception:
        example = named_text(context.named(exception["state"]))
        return f"on the thresholds themselves there are exceptions, such as {example}"
    if unconfirmed:
        return "on the thresholds themselves there may be exceptions"
    return "no exception on the thresholds either"

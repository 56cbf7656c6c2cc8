"""Does a program take the mirrored action at the mirrored state?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from diprl.program.ast import Act, Affine, Blend, Terminal, terminals
from diprl.verify.context import Context, leaf_text
from diprl.verify.exact.cells import Leaf, cells
from diprl.verify.exact.linear import Box, Constraint, Place
from diprl.verify.exact.outputs import Way, disagreements
from diprl.verify.properties.counterexamples import Counterexamples
from diprl.verify.properties.regions import regions_text, where_text
from diprl.verify.report import Answer, named_text
from diprl.verify.spec.asked import Asked, read_list, read_pairs
from diprl.verify.spec.tree import SpecError, Tree

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
        everything = tuple(range(len(asked.features)))
        negate = asked.take("negate", lambda tree: tuple(map(asked.feature, read_list(tree))), everything)
        themselves = tuple(range(len(asked.actions)))
        mirror = themselves if asked.continuous else asked.take("mirror", lambda tree: _read_mirror(tree, asked))
        return cls(name, asked.box, negate, mirror)

    def check(self, context: Context) -> Answer:
        """Examined off the thresholds, which are where a symmetric program need not be symmetric."""
        image = self._place(context)

        def ways(first: Leaf, second: Leaf) -> Iterator[Way]:
            mirrored = replace(first, terminal=self._image(first.terminal))
            return disagreements(mirrored, second, context.program.signature, sign=-1)

        found = Counterexamples(
            context,
            (("state", context.program, context.place), ("mirrored state", context.program, image)),
            self.box,
            ways,
            tuple(constraint.at(image) for constraint in self.box.constraints()),
            thresholds=False,
            nothing="every state lies on a threshold or has no mirror image in the box",
        )
        answer = found.answer("the mirrored state gets another action", _ASSUMED)
        notes = () if answer else (*self._regions(context), _threshold_note(context, found))
        summary = "every mirrored state off the thresholds gets the mirrored action"
        return answer or Answer("proved", summary, notes, None, _ASSUMED)

    def _place(self, context: Context) -> Place:
        """Where the mirrored state stands among the variables, which are the features of the state."""
        size = len(context.names)
        return Place(size, tuple((index, -1 if index in self.negate else 1) for index in range(size)))

    def _image(self, terminal: Terminal) -> Terminal:
        """The mirror image of an action; outputs are compared with their signs changed instead."""
        if isinstance(terminal, Act):
            return Act(self.mirror[terminal.action])
        if isinstance(terminal, Blend):
            weights = [0.0] * len(terminal.weights)
            for source, image in enumerate(self.mirror):
                weights[image] = terminal.weights[source]
            return Blend(tuple(weights))
        return terminal

    def _regions(self, context: Context) -> list[str]:
        """Each branch's region beside its mirror image."""
        program, place = context.program, self._place(context)

        def mirrored(number: int, where: Sequence[Constraint]) -> str:
            terminal = self._image(terminals(program.root)[number])
            negated = "the negative of " if isinstance(terminal, Affine) else ""
            image = where_text(context, [constraint.at(place) for constraint in where])
            return f"; mirrored: {negated}{leaf_text(program, terminal)} {image}"

        leaves = cells(context.question(self.box), program, context.place, thresholds=False)
        return regions_text(context, self.box, [leaf.number for leaf in leaves], mirrored)


def _threshold_note(context: Context, found: Counterexamples) -> str:
    """Whether the states that were left out are symmetric too."""
    exception, unconfirmed = replace(found, thresholds=True).first()
    if exception:
        example = named_text(context.named(exception["state"]))
        return f"on the thresholds themselves there are exceptions, such as {example}"
    if unconfirmed:
        return "on the thresholds themselves there may be exceptions"
    return "no exception on the thresholds either"


def _read_mirror(tree: Tree, asked: Asked) -> tuple[int, ...]:
    """The mirror image of every action; those not mentioned are their own."""
    mirror = list(range(len(asked.actions)))
    for source, entry in read_pairs(tree, asked.actions, asked.action):
        mirror[source] = asked.action(entry)
    if sorted(mirror) != list(range(len(mirror))):
        raise SpecError(f"line {tree.line}: 'mirror:' must give every action exactly one mirror image")
    return tuple(mirror)

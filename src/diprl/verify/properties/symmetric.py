"""Does a program take the mirrored action at the mirrored state?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from diprl.program.ast import Act, Affine, Blend, Terminal, conditions
from diprl.verify.context import Context, leaf_text, outputs_of, terminal_of
from diprl.verify.exact.box import Box, State
from diprl.verify.exact.cells import Leaf, cells
from diprl.verify.exact.constraint import of_condition, same
from diprl.verify.exact.outputs import Way, disagreements
from diprl.verify.exact.question import Question
from diprl.verify.exact.regions import READABLE, region, region_text
from diprl.verify.properties.counterexamples import Counterexamples, States
from diprl.verify.report import Answer, named_text
from diprl.verify.spec.fields import Fields, read_index, read_pairs
from diprl.verify.spec.scope import Scope
from diprl.verify.spec.tree import SpecError, Tree

_ASSUMED = (
    "states exactly on a threshold are left out, where the strict '>' favours one side",
    "the box is cut down to the states whose mirror image lies in it too",
)
_NOTHING = "every state lies on a threshold or has no mirror image in the box"


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
    def read(cls, fields: Fields, name: str, scope: Scope) -> "Symmetric":
        negate = fields.take("negate", scope.feature_list, tuple(range(len(scope.features))))
        themselves = tuple(range(len(scope.actions)))
        mirror = themselves if scope.continuous else _read_mirror(fields.required("mirror"), scope)
        return cls(name, scope.box, negate, mirror)

    def check(self, context: Context) -> Answer:
        """Examined off the thresholds, which are where a symmetric program need not be symmetric."""
        question = context.question(
            self.box, *(constraint.at(self._mirrored) for constraint in self.box.constraints())
        )
        found = self._asymmetries(context)
        answer = found.answer(context, question, "the mirrored state gets another action", _ASSUMED)
        if answer is not None:
            return answer
        notes = (*self._regions(context), self._threshold_note(context, found, question))
        summary = "every mirrored state off the thresholds gets the mirrored action"
        return Answer("proved", summary, notes, None, _ASSUMED)

    def _asymmetries(self, context: Context) -> Counterexamples:
        program = context.program
        rows = [of_condition(condition) for condition in conditions(program.root) if any(condition.weights)]

        def ways(first: Leaf, second: Leaf) -> Iterator[Way]:
            image = replace(first, terminal=self._image(first.terminal))
            return disagreements(image, second, program.signature, sign=-1)

        def states(values: Sequence[float]) -> States | None:
            state = self.box.clamp(values)
            image = self._mirrored(state)
            return {"state": state, "mirrored state": image} if self.box.contains(image) else None

        def violated(state: State, image: State) -> bool:
            on_threshold = any(row.value(place) == 0 for row in rows for place in (state, image))
            return not on_threshold and self._breaks(context, state, image)

        evaluated = ((program.root, same), (program.root, self._mirrored))
        return Counterexamples(evaluated, ways, states, violated, thresholds=False, nothing=_NOTHING)

    def _threshold_note(self, context: Context, found: Counterexamples, question: Question) -> str:
        """Whether the states that were left out are symmetric too."""

        def violated(state: State, image: State) -> bool:
            return self._breaks(context, state, image)

        everywhere = replace(found, thresholds=True, violated=violated)
        exception, unconfirmed = everywhere.first(context, question)
        if exception:
            example = named_text(context.named(exception["state"]))
            return f"on the thresholds themselves there are exceptions, such as {example}"
        if unconfirmed:
            return "on the thresholds themselves there may be exceptions"
        return "no exception on the thresholds either"

    def _mirrored(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """A state at its mirror image; weights as they read a state from its mirror image."""
        return tuple(-value if index in self.negate else value for index, value in enumerate(values))

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

    def _breaks(self, context: Context, state: State, image: State) -> bool:
        """Whether the interpreter's action at the mirrored state is not the mirrored action."""
        first, second = (terminal_of(context.program, place) for place in (state, image))
        if isinstance(first, Affine):
            ours, theirs = (outputs_of(context.program, place) for place in (state, image))
            return any(a != -b for a, b in zip(ours, theirs, strict=True))
        return self._image(first) != second

    def _regions(self, context: Context) -> Iterator[str]:
        """Each branch's region beside its mirror image."""
        leaves = list(cells(context.question(self.box), context.program.root, thresholds=False))
        if len(leaves) > READABLE:
            yield f"{len(leaves)} branches act in the box"
            return
        for leaf in leaves:
            where = region(context, self.box, leaf.number)
            image = [constraint.at(self._mirrored) for constraint in where]
            action, mirror = (
                leaf_text(context.program, terminal)
                for terminal in (leaf.terminal, self._image(leaf.terminal))
            )
            negated = "the negative of " if isinstance(leaf.terminal, Affine) else ""
            yield (
                f"{action} {region_text(context, where)}; "
                f"mirrored: {negated}{mirror} {region_text(context, image)}"
            )


def _read_mirror(tree: Tree, scope: Scope) -> tuple[int, ...]:
    """The mirror image of every action; those not mentioned are their own."""
    mirror = list(range(len(scope.actions)))
    for source, entry in read_pairs(tree, scope.actions, "an action name"):
        mirror[source] = read_index(entry, scope.actions, "an action name")
    if sorted(mirror) != list(range(len(mirror))):
        raise SpecError(f"line {tree.line}: 'mirror:' must give every action exactly one mirror image")
    return tuple(mirror)

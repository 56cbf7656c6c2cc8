"""How far a state can move before the program acts differently."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from diprl.verify.context import Context, leaf_text, terminal_of
from diprl.verify.exact.box import Box, State
from diprl.verify.exact.cells import Leaf
from diprl.verify.exact.distance import Norm, Ruler, just_beyond
from diprl.verify.exact.outputs import Way
from diprl.verify.exact.rounding import nearest_float
from diprl.verify.properties.counterexamples import Counterexamples, States
from diprl.verify.report import Answer, named_text
from diprl.verify.spec.fields import Fields, read_index, read_positive
from diprl.verify.spec.scope import Scope
from diprl.verify.spec.tree import SpecError

_NORMS: tuple[Norm, ...] = ("max", "sum")


@dataclass(frozen=True)
class Robust:
    """How far a state can move, in scaled units, before the program acts differently."""

    kind: ClassVar[str] = "robust"
    name: str
    box: Box
    state: State
    scales: State
    norm: Norm
    at_least: float | None

    @classmethod
    def read(cls, fields: Fields, name: str, scope: Scope) -> "Robust":
        state = fields.need("at", scope.state)
        if not scope.box.contains(state):
            raise SpecError(f"line {fields.line}: the state of 'at:' lies outside of the box")
        norm = _NORMS[fields.take("norm", lambda tree: read_index(tree, _NORMS, "a norm"), 0)]
        at_least = fields.take("at_least", read_positive, None)
        return cls(name, scope.box, state, scope.scales(fields), norm, at_least)

    def check(self, context: Context) -> Answer:
        """The exact radius around the state within which the terminal stays the same."""
        ruler = Ruler(self.state, self.scales, self.norm)
        action = leaf_text(context.program, terminal_of(context.program, self.state))
        everywhere = self._changes(context, ruler)
        radius = ruler.nearest(self.box, context.deadline, everywhere.visit)
        if radius is None:
            return Answer("proved", f"every state of the box gets '{action}'")
        sentence = f"states closer than {nearest_float(radius):.9g} keep '{action}', and that radius is exact"
        if not radius:
            sentence = f"the radius is exactly 0: some states as close as one likes do not get '{action}'"
        if self.at_least is not None and radius < Fraction(self.at_least):
            limit = Fraction(self.at_least)
            question = ruler.question(self.box, context.deadline, limit, strict=True)
            answer = self._changes(context, ruler, limit, strict=True).answer(context, question, sentence)
            return answer or Answer("unknown", f"{sentence}, but no state within it was found")
        reach = just_beyond(radius)
        question = ruler.question(self.box, context.deadline, reach)
        states, _ = self._changes(context, ruler, reach).first(context, question)
        shown = (_other_action(context, states["changed state"]),) if states else ()
        return Answer("proved", sentence, (f"measured as the {self.norm} of the scaled changes", *shown))

    def _changes(
        self, context: Context, ruler: Ruler, within: Fraction | None = None, strict: bool = False
    ) -> Counterexamples:
        """The states, perhaps only those within a radius, with another terminal than the state has."""
        program = context.program
        current = terminal_of(program, self.state)

        def ways(leaf: Leaf) -> list[Way]:
            return [()] if leaf.terminal != current else []

        def states(values: Sequence[float]) -> States | None:
            state = self.box.clamp(values[: len(self.state)])
            distance = ruler.measure(state)
            near = within is None or distance < within or (distance == within and not strict)
            return {"state": self.state, "changed state": state} if near else None

        def violated(_state: State, changed: State) -> bool:
            return terminal_of(program, changed) != current

        return Counterexamples(((program.root, ruler.place),), ways, states, violated)


def _other_action(context: Context, state: State) -> str:
    action = leaf_text(context.program, terminal_of(context.program, state))
    return f"'{action}' appears by {named_text(context.named(state))}"

"""How far a state can move before the program acts differently."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from diprl.verify.context import Context, action_text, leaf_text, terminal_of
from diprl.verify.exact.cells import Leaf
from diprl.verify.exact.distance import Norm, Ruler, just_beyond
from diprl.verify.exact.linear import Box, State
from diprl.verify.exact.outputs import Way
from diprl.verify.exact.rounding import nearest_float
from diprl.verify.properties.counterexamples import Counterexamples
from diprl.verify.report import Answer, named_text
from diprl.verify.spec.asked import Asked, read_index, read_positive
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
    def read(cls, name: str, asked: Asked) -> "Robust":
        state = asked.take("at", asked.state)
        if not asked.box.contains(state):
            raise SpecError(f"line {asked.line}: the state of 'at:' lies outside of the box")
        norm = _NORMS[asked.take("norm", lambda tree: read_index(tree, _NORMS, "a norm"), 0)]
        at_least = asked.take("at_least", read_positive, None)
        return cls(name, asked.box, state, asked.scales(), norm, at_least)

    def check(self, context: Context) -> Answer:
        """The exact radius around the state within which the terminal stays the same."""
        program = context.program
        current = terminal_of(program, self.state)
        action = leaf_text(program, current)

        def ways(leaf: Leaf) -> list[Way]:
            return [()] if leaf.terminal != current else []

        ruler = Ruler(self.state, self.scales, self.norm)
        evaluated = (("changed state", program, ruler.place),)
        shown = {"state": self.state}
        found = Counterexamples(context, evaluated, ruler.box(self.box), ways, ruler=ruler, shown=shown)
        radius = found.nearest(ruler)
        if radius is None:
            return Answer("proved", f"every state of the box gets '{action}'")
        sentence = f"states closer than {nearest_float(radius):.9g} keep '{action}', and that radius is exact"
        if not radius:
            sentence = f"the radius is exactly 0: some states as close as one likes do not get '{action}'"
        if self.at_least is not None and radius < Fraction(self.at_least):
            closer = ruler.within(Fraction(self.at_least), strict=True)
            answer = replace(found, given=(closer,)).answer(sentence)
            return answer or Answer("unknown", f"{sentence}, but no such state was found")
        states, _ = replace(found, given=(ruler.within(just_beyond(radius)),)).first()
        details = [f"measured as the {self.norm} of the scaled changes"]
        if states:
            other = action_text(program, states["changed state"])
            details.append(f"'{other}' appears by {named_text(context.named(states['changed state']))}")
        return Answer("proved", sentence, tuple(details))

"""Do two programs act alike in a box, and where is the nearest state at which they do not?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite
from typing import ClassVar

from diprl.program import Program
from diprl.verify.context import Context, leaf_text, outputs_of, terminal_of
from diprl.verify.exact.box import Box, State
from diprl.verify.exact.cells import Leaf
from diprl.verify.exact.distance import Ruler, just_beyond
from diprl.verify.exact.outputs import Way, disagreements
from diprl.verify.exact.rounding import nearest_float
from diprl.verify.properties.counterexamples import Counterexamples, States
from diprl.verify.report import Answer, named_text
from diprl.verify.spec.fields import Fields, read_not_negative, read_text
from diprl.verify.spec.scope import Scope
from diprl.verify.spec.tree import SpecError

_SAMPLES = 2_000


@dataclass(frozen=True)
class Equivalent:
    """Another program gives the same actions everywhere in the box."""

    kind: ClassVar[str] = "equivalent"
    name: str
    box: Box
    other: Program
    tolerance: float
    near: State
    """The state whose nearest difference is looked for."""
    scales: State

    @classmethod
    def read(cls, fields: Fields, name: str, scope: Scope) -> "Equivalent":
        tree = fields.required("to")
        other = Program.load(scope.folder / read_text(tree))
        ours, theirs = scope.program.signature, other.signature
        if theirs.feature_names != ours.feature_names or theirs.actions != ours.actions:
            sentence = f"{read_text(tree)} has other features or actions than the program"
            raise SpecError(f"line {tree.line}: {sentence}")
        near = fields.take("near", scope.state, _middle(scope.box))
        tolerance = fields.take("tolerance", read_not_negative, 0.0)
        return cls(name, scope.box, other, tolerance, near, scope.scales(fields))

    def check(self, context: Context) -> Answer:
        ruler = Ruler(self.near, self.scales)
        found = self._differences(context, ruler)
        radius = ruler.nearest(self.box, context.deadline, found.visit)
        if radius is None:
            return Answer("proved", "both programs act alike in every state of the box")
        question = ruler.question(self.box, context.deadline, just_beyond(radius))
        answer = found.answer(context, question, "the programs differ")
        if answer is None or answer.witness is None:
            sentence = "the programs differ in real arithmetic, but no differing state was found"
            return answer or Answer("unknown", sentence)
        state = tuple(value for _, value in answer.witness.states[0][1])
        theirs = leaf_text(self.other, terminal_of(self.other, state))
        replays = (*answer.witness.replays, f"the interpreter gives '{theirs}' for the other program")
        near = named_text(context.named(self.near))
        nearest = f"the nearest difference to ({near}) is {nearest_float(radius):.9g} away, exactly"
        details = (nearest, *self._share(context))
        return replace(answer, details=details, witness=replace(answer.witness, replays=replays))

    def _differences(self, context: Context, ruler: Ruler) -> Counterexamples:
        program, tolerance = context.program, Fraction(self.tolerance)

        def ways(first: Leaf, second: Leaf) -> Iterator[Way]:
            return disagreements(first, second, program.signature, tolerance)

        def states(values: Sequence[float]) -> States:
            return {"state": self.box.clamp(values[: len(self.near)])}

        def violated(state: State) -> bool:
            return self._differ(program, state)

        evaluated = ((program.root, ruler.place), (self.other.root, ruler.place))
        return Counterexamples(evaluated, ways, states, violated)

    def _differ(self, program: Program, state: State) -> bool:
        """Whether the interpreter acts differently for the two programs."""
        ours, theirs = outputs_of(program, state), outputs_of(self.other, state)
        if not ours:
            return terminal_of(program, state) != terminal_of(self.other, state)
        return any(abs(a - b) > self.tolerance for a, b in zip(ours, theirs, strict=True))

    def _share(self, context: Context) -> list[str]:
        """How common differing states are in the box, by a sample of it."""
        if not self.box.finite:
            return []
        differ = 0
        for state in self.box.samples(_SAMPLES).tolist():
            if context.deadline.used(1.0):
                return []
            differ += self._differ(context.program, state)
        return [f"about {differ / _SAMPLES:.2%} of the box differs ({_SAMPLES} random states)"]


def _middle(box: Box) -> State:
    """The centre of the box; where a side is infinite, the point of it nearest to zero."""
    centre = [low / 2 + high / 2 for low, high in zip(box.low, box.high, strict=True)]
    return box.clamp([value if isfinite(value) else 0.0 for value in centre])

"""Do two programs act alike in a box, and where is the nearest state at which they do not?"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isfinite
from typing import ClassVar

from diprl.program import Program
from diprl.verify.context import Context, action_text
from diprl.verify.exact.cells import Leaf
from diprl.verify.exact.distance import Ruler, just_beyond
from diprl.verify.exact.linear import Box, State
from diprl.verify.exact.outputs import Way, disagreements
from diprl.verify.exact.rounding import nearest_float
from diprl.verify.properties.counterexamples import Counterexamples
from diprl.verify.report import Answer, named_text
from diprl.verify.spec.asked import Asked, read_number, read_text
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
    def read(cls, name: str, asked: Asked) -> "Equivalent":
        path = asked.take("to", read_text)
        other = Program.load(asked.folder / path)
        ours, theirs = asked.program.signature, other.signature
        if theirs.feature_names != ours.feature_names or theirs.actions != ours.actions:
            raise SpecError(f"line {asked.line}: {path} has other features or actions than the program")
        near = asked.take("near", asked.state, _middle(asked.box))
        tolerance = asked.take("tolerance", read_number, 0.0)
        if not 0.0 <= tolerance < inf:
            raise SpecError(f"line {asked.line}: 'tolerance:' must not be negative or infinite")
        return cls(name, asked.box, other, tolerance, near, asked.scales())

    def check(self, context: Context) -> Answer:
        ruler = Ruler(self.near, self.scales)
        found = self._differences(context, ruler)
        radius = found.nearest(ruler)
        if radius is None:
            return Answer("proved", "both programs act alike in every state of the box")
        close = replace(found, given=(ruler.within(just_beyond(radius)),))
        answer = close.answer("the programs differ")
        if answer is None or answer.witness is None:
            sentence = "the programs differ in real arithmetic, but no differing state was found"
            return answer or Answer("unknown", sentence)
        state = tuple(value for _, value in answer.witness.states[0][1])
        theirs = f"the interpreter gives '{action_text(self.other, state)}' for the other program"
        replays = (*answer.witness.replays, theirs)
        near = named_text(context.named(self.near))
        nearest = f"the nearest difference to ({near}) is {nearest_float(radius):.9g} away, exactly"
        details = (nearest, *self._share(context, found))
        return replace(answer, details=details, witness=replace(answer.witness, replays=replays))

    def _differences(self, context: Context, ruler: Ruler) -> Counterexamples:
        program, tolerance = context.program, Fraction(self.tolerance)

        def ways(first: Leaf, second: Leaf) -> Iterator[Way]:
            return disagreements(first, second, program.signature, tolerance)

        evaluated = (("state", program, ruler.place), ("state", self.other, ruler.place))
        return Counterexamples(context, evaluated, ruler.box(self.box), ways, ruler=ruler)

    def _share(self, context: Context, found: Counterexamples) -> list[str]:
        """How common differing states are in the box, by a sample of it."""
        differing = 0
        for state in self.box.samples(_SAMPLES).tolist() if self.box.finite else ():
            if context.deadline.used(1.0):
                return []
            differing += found.violated({"state": state})
        share = differing / _SAMPLES
        return [f"about {share:.2%} of the box differs ({_SAMPLES} random states)"] if self.box.finite else []


def _middle(box: Box) -> State:
    """The centre of the box; where a side is infinite, the point of it nearest to zero."""
    centre = [low / 2 + high / 2 for low, high in zip(box.low, box.high, strict=True)]
    return box.clamp([value if isfinite(value) else 0.0 for value in centre])

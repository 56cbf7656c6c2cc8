"""Which actions, or which range of outputs, a program can give in a box of states."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isinf
from typing import ClassVar

from diprl.program.signature import Continuous
from diprl.verify.context import Context, leaf_text
from diprl.verify.exact.cells import cells
from diprl.verify.exact.linear import Box, Constraint
from diprl.verify.exact.outputs import output_pieces
from diprl.verify.exact.rounding import nearest_float
from diprl.verify.properties.never import taking
from diprl.verify.properties.regions import regions_text
from diprl.verify.report import Answer
from diprl.verify.spec.asked import Asked, read_interval, read_list, read_pairs

Range = tuple[int, float, float]
"""An output, its lowest and its highest value."""


@dataclass(frozen=True)
class Actions:
    """Which actions, or which range of outputs, the program can give in the box."""

    kind: ClassVar[str] = "actions"
    name: str
    box: Box
    only: tuple[int, ...] | None = None
    """Actions that may appear; None asks only which do."""
    outputs: tuple[Range, ...] = ()
    """The values that outputs may have."""

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Actions":
        if asked.continuous:
            pairs = asked.take("outputs", lambda tree: read_pairs(tree, asked.actions, asked.action), [])
            ranges = tuple((output, *read_interval(entry)) for output, entry in pairs)
            return cls(name, asked.box, outputs=ranges)
        only = asked.take("only", lambda tree: tuple(map(asked.action, read_list(tree))), None)
        return cls(name, asked.box, only)

    def check(self, context: Context) -> Answer:
        program, actions = context.program, context.program.signature.actions
        if isinstance(actions, Continuous):
            return self._check_outputs(context, actions)
        leaves = list(cells(context.question(self.box), program, context.place))
        possible = ", ".join(dict.fromkeys(leaf_text(program, leaf.terminal) for leaf in leaves))
        notes = regions_text(context, self.box, [leaf.number for leaf in leaves])
        if self.only is not None:
            others = [action for action in range(len(actions.names)) if action not in self.only]
            unwanted = taking(context, self.box, others)
            answer = unwanted.answer(f"the possible actions are: {possible}")
            if answer is not None:
                return answer
            notes.append(unwanted.float_note())
        return Answer("proved", f"the possible actions are exactly: {possible}", tuple(notes))

    def _check_outputs(self, context: Context, actions: Continuous) -> Answer:
        lines = []
        for output, name in enumerate(actions.names):
            low, high = (self._extreme(context, output, actions, sign) for sign in (1, -1))
            lines.append(f"{name} lies in [{low}, {high}], exactly")
        for output, low, high in self.outputs:
            unwanted = taking(context, self.box, _outside(output, low, high, len(actions.names)))
            answer = unwanted.answer(f"{actions.names[output]} leaves [{low:g}, {high:g}]")
            if answer is not None:
                return replace(answer, details=(*answer.details, *lines))
        return Answer("proved", "the range of every output is known", tuple(lines))

    def _extreme(self, context: Context, output: int, actions: Continuous, sign: int) -> str:
        """The infimum of an output over the box or, where the sign is −1, its supremum."""
        question, found = context.question(self.box), []
        for leaf in cells(question, context.program, context.place):
            for piece in output_pieces(leaf, output, actions):
                with question.asking(piece.given) as possible:
                    if not possible:
                        continue
                    least = question.least(tuple(sign * weight for weight in piece.weights))
                    if least is None:
                        return "unbounded"
                    found.append(least + sign * piece.bias)
        return f"{nearest_float(sign * min(found)):.9g}"


def _outside(output: int, low: float, high: float, count: int) -> Sequence[Constraint]:
    """What an output must not do: be above its highest value or below its lowest."""
    found = []
    for sign, limit in ((1, high), (-1, -low)):
        if not isinf(limit):
            weights = tuple(Fraction(sign * (index == output)) for index in range(count))
            found.append(Constraint(weights, -Fraction(limit), strict=True))
    return found

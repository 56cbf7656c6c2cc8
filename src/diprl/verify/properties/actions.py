"""Which actions, or which range of outputs, a program can give in a box of states."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isinf
from typing import ClassVar

from diprl.program.signature import Continuous
from diprl.verify.context import Context, leaf_text
from diprl.verify.exact.box import Box
from diprl.verify.exact.cells import cells
from diprl.verify.exact.constraint import Constraint
from diprl.verify.exact.outputs import output_pieces
from diprl.verify.exact.regions import regions_text
from diprl.verify.exact.rounding import nearest_float
from diprl.verify.properties.never import taking
from diprl.verify.report import Answer
from diprl.verify.spec.fields import Fields, read_interval, read_pairs
from diprl.verify.spec.scope import Scope
from diprl.verify.spec.tree import Tree

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
    def read(cls, fields: Fields, name: str, scope: Scope) -> "Actions":
        def ranges(tree: Tree) -> tuple[Range, ...]:
            pairs = read_pairs(tree, scope.actions, "an output")
            return tuple((output, *read_interval(entry)) for output, entry in pairs)

        if scope.continuous:
            return cls(name, scope.box, outputs=fields.take("outputs", ranges, ()))
        return cls(name, scope.box, fields.take("only", scope.action_list, None))

    def check(self, context: Context) -> Answer:
        actions = context.program.signature.actions
        if isinstance(actions, Continuous):
            return self._check_outputs(context, actions)
        question = context.question(self.box)
        found = {leaf.number: leaf.terminal for leaf in cells(question, context.program.root)}
        texts = dict.fromkeys(leaf_text(context.program, terminal) for terminal in found.values())
        possible, notes = ", ".join(texts), regions_text(context, self.box, list(found))
        if self.only is not None:
            others = [action for action in range(len(actions.names)) if action not in self.only]
            unwanted = taking(context, self.box, others)
            answer = unwanted.answer(context, question, f"the possible actions are: {possible}")
            if answer is not None:
                return answer
            notes.append(unwanted.float_note(context, self.box, question))
        return Answer("proved", f"the possible actions are exactly: {possible}", tuple(notes))

    def _check_outputs(self, context: Context, actions: Continuous) -> Answer:
        lines = [
            f"{name} lies in [{_text(self._least(context, output, actions, 1))}, "
            f"{_text(self._least(context, output, actions, -1))}], exactly"
            for output, name in enumerate(actions.names)
        ]
        for output, low, high in self.outputs:
            unwanted = taking(context, self.box, _outside(output, low, high, len(actions.names)))
            sentence = f"{actions.names[output]} leaves [{low:g}, {high:g}]"
            answer = unwanted.answer(context, context.question(self.box), sentence)
            if answer is not None:
                return replace(answer, details=(*answer.details, *lines))
        return Answer("proved", "the range of every output is known", tuple(lines))

    def _least(self, context: Context, output: int, actions: Continuous, sign: int) -> Fraction | None:
        """The infimum of an output over the box or, where the sign is −1, its supremum; None for no bound."""
        question = context.question(self.box)
        found: list[Fraction] = []
        for leaf in cells(question, context.program.root):
            for piece in output_pieces(leaf, output, actions):
                with question.asking(piece.given) as possible:
                    if not possible:
                        continue
                    least = question.least(tuple(sign * weight for weight in piece.weights))
                    if least is None:
                        return None
                    found.append(least + sign * piece.bias)
        return sign * min(found)


def _outside(output: int, low: float, high: float, count: int) -> Sequence[Constraint]:
    """What an output must not do: be above its highest value or below its lowest."""
    found = []
    for sign, limit in ((1, high), (-1, -low)):
        if not isinf(limit):
            weights = tuple(Fraction(sign * (index == output)) for index in range(count))
            found.append(Constraint(weights, -Fraction(limit), strict=True))
    return found


def _text(value: Fraction | None) -> str:
    return "unbounded" if value is None else f"{nearest_float(value):.9g}"

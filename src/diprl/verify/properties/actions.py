"""Which actions, or which range of outputs, a program can give, and which it never gives."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isinf
from typing import ClassVar

from diprl.program.ast import Act, Blend, Terminal
from diprl.program.signature import Continuous
from diprl.verify.context import Context, leaf_text
from diprl.verify.exact.cells import Leaf, cells
from diprl.verify.exact.linear import Box, Constraint, all_text
from diprl.verify.exact.outputs import Way, output_pieces, ways_above_zero
from diprl.verify.exact.rounding import nearest_float
from diprl.verify.properties.branches import regions_text
from diprl.verify.properties.counterexamples import Counterexamples
from diprl.verify.report import Answer
from diprl.verify.spec.asked import Asked, read_constraint, read_interval, read_list
from diprl.verify.spec.tree import Tree

Action = int | Constraint
"""An action or primitive by its index, or an inequality over continuous outputs."""


@dataclass(frozen=True)
class Never:
    """Some action is never taken where all conditions hold."""

    kind: ClassVar[str] = "never"
    name: str
    box: Box
    action: Action
    when: tuple[Constraint, ...]

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Never":
        def output_condition(tree: Tree) -> Constraint:
            return read_constraint(tree, asked.actions, "an output name")

        action = asked.take("action", output_condition if asked.continuous else asked.action)
        return cls(name, asked.box, action, asked.take("when", asked.conditions, ()))

    def check(self, context: Context) -> Answer:
        names, action = context.program.signature.actions.names, self.action
        described = action.text(names) if isinstance(action, Constraint) else names[action]
        described += f" where {all_text(self.when, context.names)}" if self.when else ""
        found = _taking(context, self.box, [action], self.when)
        answer = found.answer(f"there are states with {described}")
        return answer or Answer("proved", f"no state of the box has {described}", (found.float_note(),))


@dataclass(frozen=True)
class Actions:
    """Which actions, or which range of outputs, the program can give in the box."""

    kind: ClassVar[str] = "actions"
    name: str
    box: Box
    only: tuple[int, ...] | None = None
    """Actions that may appear; None asks only which do."""
    outputs: tuple[tuple[int, float, float], ...] = ()
    """Outputs, each with the lowest and the highest value that it may have; for programs that have outputs."""

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Actions":
        if asked.continuous:
            ranges = asked.take("outputs", asked.by_action, [])
            return cls(name, asked.box, outputs=tuple((output, *read_interval(entry)) for output, entry in ranges))
        return cls(name, asked.box, asked.take("only", lambda tree: read_list(tree, asked.action), None))

    def check(self, context: Context) -> Answer:
        program, names = context.program, context.program.signature.actions.names
        if isinstance(program.signature.actions, Continuous):
            return self._check_outputs(context)
        leaves = list(cells(context.question(self.box), program, context.place))
        possible = ", ".join(dict.fromkeys(leaf_text(program, leaf.terminal) for leaf in leaves))
        notes = regions_text(context, self.box, leaves)
        if self.only is not None:
            others = [action for action in range(len(names)) if action not in self.only]
            unwanted = _taking(context, self.box, others)
            answer = unwanted.answer(f"the possible actions are: {possible}")
            if answer is not None:
                return answer
            notes.append(unwanted.float_note())
        return Answer("proved", f"the possible actions are exactly: {possible}", tuple(notes))

    def _check_outputs(self, context: Context) -> Answer:
        names = context.program.signature.actions.names
        lines = []
        for output, name in enumerate(names):
            low, high = (self._extreme(context, output, sign) for sign in (1, -1))
            lines.append(f"{name} lies in [{low}, {high}], exactly")
        for output, low, high in self.outputs:
            unwanted = _taking(context, self.box, _outside(output, low, high, len(names)))
            answer = unwanted.answer(f"{names[output]} leaves [{low:g}, {high:g}]")
            if answer is not None:
                return replace(answer, details=(*answer.details, *lines))
        return Answer("proved", "the range of every output is known", tuple(lines))

    def _extreme(self, context: Context, output: int, sign: int) -> str:
        """The infimum of an output over the box or, where the sign is −1, its supremum."""
        question, found = context.question(self.box), []
        for leaf in cells(question, context.program, context.place):
            for piece in output_pieces(leaf, output):
                with question.asking(piece.given) as possible:
                    if not possible:
                        continue
                    least = question.least(tuple(sign * weight for weight in piece.weights))
                    if least is None:
                        return "unbounded"
                    found.append(least + sign * piece.bias)
        return f"{nearest_float(sign * min(found)):.9g}"


def _outside(output: int, low: float, high: float, count: int) -> list[Constraint]:
    """What an output must not do: be above its highest value or below its lowest."""
    units = {sign: tuple(Fraction(sign * (index == output)) for index in range(count)) for sign in (1, -1)}
    limits = [(sign, limit) for sign, limit in ((1, high), (-1, -low)) if not isinf(limit)]
    return [Constraint(units[sign], -Fraction(limit), strict=True) for sign, limit in limits]


def _taking(context: Context, box: Box, actions: Sequence[Action], when: Way = ()) -> Counterexamples:
    """The states at which one of these actions is taken."""

    def ways(leaf: Leaf) -> Iterator[Way]:
        for action in actions:
            if isinstance(action, Constraint):
                terms = [(weight, leaf, output) for output, weight in enumerate(action.weights) if weight]
                yield from ways_above_zero(terms or [(0, leaf, 0)], action.bias, action.strict)
            elif uses(leaf.terminal, action):
                yield ()

    return Counterexamples(context, (("state", context.program, context.place),), box, ways, when)


def uses(terminal: Terminal, action: int) -> bool:
    """Whether a terminal is a discrete action, or blends a primitive in."""
    if isinstance(terminal, Blend):
        return terminal.weights[action] > 0.0
    return isinstance(terminal, Act) and terminal.action == action

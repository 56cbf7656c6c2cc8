"""Which actions, or which range of outputs, a program can give, and which it never gives."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from diprl.program.ast import Act, Blend, Terminal
from diprl.program.signature import Continuous
from diprl.verify.context import Context, leaf_text
from diprl.verify.exact.cells import Leaf, Way, cells, output_pieces, ways_above_zero
from diprl.verify.exact.linear import Box, Constraint, all_text
from diprl.verify.exact.rounding import nearest_float
from diprl.verify.properties.branches import regions_text
from diprl.verify.properties.counterexamples import Counterexamples
from diprl.verify.report import Answer
from diprl.verify.spec.asked import Asked, read_list

Action = int | Constraint
"""An action or primitive by its index, or an inequality over continuous outputs."""


@dataclass(frozen=True)
class Never:
    """Some action is never taken where all conditions hold."""

    name: str
    box: Box
    action: Action
    when: tuple[Constraint, ...]

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Never":
        action = asked.take("action", asked.output_condition if asked.continuous else asked.action)
        return cls(name, asked.box, action, asked.take("when", asked.conditions, ()))

    def check(self, context: Context) -> Answer:
        names, action = context.program.signature.actions.names, self.action
        described = action.text(names) if isinstance(action, Constraint) else names[action]
        described += f" where {all_text(self.when, context.names)}" if self.when else ""
        found = _taking(context, self.box, [action], self.when)
        answer = found.answer(f"there are states with {described}")
        return answer or found.proved(f"no state of the box has {described}")


@dataclass(frozen=True)
class Actions:
    """Which actions, or which range of outputs, the program can give in the box."""

    name: str
    box: Box
    only: tuple[int, ...] | None = None
    """Actions that may appear; None asks only which do."""
    outputs: Box | None = None
    """The values that outputs may have, for programs that have outputs."""

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Actions":
        if asked.continuous:
            return cls(name, asked.box, outputs=asked.take("outputs", asked.output_box, None))
        return cls(name, asked.box, asked.take("only", lambda tree: read_list(tree, asked.action), None))

    def check(self, context: Context) -> Answer:
        program, names = context.program, context.program.signature.actions.names
        if isinstance(program.signature.actions, Continuous):
            return self._check_outputs(context)
        leaves = [leaf for (leaf,) in cells(context.question(self.box), context.evaluated)]
        possible = ", ".join(dict.fromkeys(leaf_text(program, leaf.terminal) for leaf in leaves))
        notes = regions_text(context, self.box, leaves)
        if self.only is not None:
            others = [action for action in range(len(names)) if action not in self.only]
            unwanted = _taking(context, self.box, others)
            answer = unwanted.answer(f"the possible actions are: {possible}")
            return answer or unwanted.proved(f"the possible actions are exactly: {possible}", *notes)
        return Answer("proved", f"the possible actions are exactly: {possible}", tuple(notes), real_only=True)

    def _check_outputs(self, context: Context) -> Answer:
        names = context.program.signature.actions.names
        lines = []
        for output, name in enumerate(names):
            low, high = (self._extreme(context, output, sign) for sign in (1, -1))
            lines.append(f"{name} lies in [{low}, {high}], exactly")
        if self.outputs is not None:
            outside = [constraint.negated() for constraint in self.outputs.constraints()]
            found = _taking(context, self.box, outside)
            answer = found.answer(f"not always {self.outputs.text(names)}")
            answer = answer or found.proved("the range of every output is known")
            return replace(answer, details=(*lines, *answer.details))
        return Answer("proved", "the range of every output is known", tuple(lines), real_only=True)

    def _extreme(self, context: Context, output: int, sign: int) -> str:
        """The infimum of an output over the box or, where the sign is −1, its supremum."""
        question, found = context.question(self.box), []
        for (leaf,) in cells(question, context.evaluated):
            for piece in output_pieces(leaf, output):
                with question.asking(piece.given) as possible:
                    if not possible:
                        continue
                    least = question.least(tuple(sign * weight for weight in piece.weights))
                    if least is None:
                        return "unbounded"
                    found.append(least + sign * piece.bias)
        return f"{nearest_float(sign * min(found)):.9g}"


def _taking(context: Context, box: Box, actions: Sequence[Action], when: Way = ()) -> Counterexamples:
    """The states at which one of these actions is taken."""

    def ways(leaf: Leaf) -> Iterator[Way]:
        for action in actions:
            if isinstance(action, Constraint):
                terms = [(weight, leaf, output) for output, weight in enumerate(action.weights) if weight]
                yield from ways_above_zero(terms or [(0, leaf, 0)], action.bias, action.strict)
            elif uses(leaf.terminal, action):
                yield ()

    return Counterexamples(context, context.evaluated, box, ways, when)


def uses(terminal: Terminal, action: int) -> bool:
    """Whether a terminal is a discrete action, or blends a primitive in."""
    if isinstance(terminal, Blend):
        return terminal.weights[action] > 0.0
    return isinstance(terminal, Act) and terminal.action == action

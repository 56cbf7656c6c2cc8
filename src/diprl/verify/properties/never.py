"""Is some action never taken where certain conditions hold?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from diprl.program.ast import Act, Blend, Terminal
from diprl.program.signature import Continuous
from diprl.verify.context import Context
from diprl.verify.exact.cells import Leaf
from diprl.verify.exact.linear import Box, Constraint, all_text
from diprl.verify.exact.outputs import Way, ways_above_zero
from diprl.verify.properties.counterexamples import Counterexamples
from diprl.verify.report import Answer
from diprl.verify.spec.asked import Asked

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
        action = asked.take("action", asked.output_condition if asked.continuous else asked.action)
        return cls(name, asked.box, action, asked.take("when", asked.conditions, ()))

    def check(self, context: Context) -> Answer:
        names, action = context.program.signature.actions.names, self.action
        described = action.text(names) if isinstance(action, Constraint) else names[action]
        described += f" where {all_text(self.when, context.names)}" if self.when else ""
        found = taking(context, self.box, [action], self.when)
        answer = found.answer(f"there are states with {described}")
        return answer or Answer("proved", f"no state of the box has {described}", (found.float_note(),))


def taking(context: Context, box: Box, actions: Sequence[Action], when: tuple[Constraint, ...] = ()) -> Counterexamples:
    """The states at which one of these actions is taken."""

    def ways(leaf: Leaf) -> Iterator[Way]:
        for action in actions:
            yield from _ways(context, leaf, action)

    return Counterexamples(context, (("state", context.program, context.place),), box, ways, when)


def _ways(context: Context, leaf: Leaf, action: Action) -> Iterator[Way]:
    """Under what further conditions a leaf takes an action."""
    if not isinstance(action, Constraint):
        yield from [()] if uses(leaf.terminal, action) else []
        return
    outputs = context.program.signature.actions
    assert isinstance(outputs, Continuous)  # inequalities over outputs are read for them only
    terms = [(weight, leaf, output) for output, weight in enumerate(action.weights) if weight]
    yield from ways_above_zero(outputs, terms or [(0, leaf, 0)], action.bias, action.strict)


def uses(terminal: Terminal, action: int) -> bool:
    """Whether a terminal is a discrete action, or blends a primitive in."""
    if isinstance(terminal, Blend):
        return terminal.weights[action] > 0.0
    return isinstance(terminal, Act) and terminal.action == action

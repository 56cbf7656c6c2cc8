"""Is some action never taken where certain conditions hold?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar

from diprl.program.ast import Act, Blend, Terminal
from diprl.program.signature import Continuous
from diprl.verify.context import Context, outputs_of, terminal_of
from diprl.verify.exact.box import Box, State
from diprl.verify.exact.cells import Leaf
from diprl.verify.exact.constraint import Constraint, all_text, same
from diprl.verify.exact.outputs import Way, ways_above_zero
from diprl.verify.properties.counterexamples import Counterexamples, States
from diprl.verify.report import Answer
from diprl.verify.spec.fields import Fields
from diprl.verify.spec.scope import Scope

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
    def read(cls, fields: Fields, name: str, scope: Scope) -> "Never":
        action = fields.need("action", scope.output_condition if scope.continuous else scope.action)
        return cls(name, scope.box, action, fields.take("when", scope.conditions, ()))

    def check(self, context: Context) -> Answer:
        found = taking(context, self.box, [self.action], self.when)
        described = self._described(context)
        question = context.question(self.box, *self.when)
        answer = found.answer(context, question, f"there are states with {described}")
        if answer is not None:
            return answer
        note = found.float_note(context, self.box, question)
        return Answer("proved", f"no state of the box has {described}", (note,))

    def _described(self, context: Context) -> str:
        names, action = context.program.signature.actions.names, self.action
        taken = action.text(names) if isinstance(action, Constraint) else names[action]
        return f"{taken} where {all_text(self.when, context.names)}" if self.when else taken


def taking(
    context: Context, box: Box, actions: Sequence[Action], when: Sequence[Constraint] = ()
) -> Counterexamples:
    """The states at which one of these actions is taken."""

    def ways(leaf: Leaf) -> Iterator[Way]:
        for action in actions:
            yield from _ways(context, leaf, action)

    def states(values: Sequence[float]) -> States | None:
        state = box.clamp(values)
        return {"state": state} if all(constraint.holds(state) for constraint in when) else None

    def violated(state: State) -> bool:
        return any(_takes(context, state, action) for action in actions)

    return Counterexamples(((context.program.root, same),), ways, states, violated)


def uses(terminal: Terminal, action: int) -> bool:
    """Whether a terminal is a discrete action, or blends a primitive in."""
    if isinstance(terminal, Blend):
        return terminal.weights[action] > 0.0
    return isinstance(terminal, Act) and terminal.action == action


def _ways(context: Context, leaf: Leaf, action: Action) -> Iterator[Way]:
    """Under what further conditions a leaf takes an action."""
    if not isinstance(action, Constraint):
        yield from [()] if uses(leaf.terminal, action) else []
        return
    outputs = context.program.signature.actions
    assert isinstance(outputs, Continuous)  # inequalities over outputs are read for them only
    terms = [(weight, leaf, output) for output, weight in enumerate(action.weights) if weight]
    yield from ways_above_zero(outputs, terms or [(0, leaf, 0)], action.bias, action.strict)


def _takes(context: Context, state: State, action: Action) -> bool:
    """Whether the interpreter takes an action at a state; an output that is no finite number shows nothing."""
    if isinstance(action, Constraint):
        outputs = outputs_of(context.program, state)
        return all(map(isfinite, outputs)) and action.holds(outputs)
    return uses(terminal_of(context.program, state), action)

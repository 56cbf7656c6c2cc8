"""What can happen to the action when a single feature is raised and everything else stays."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from diprl.program.signature import Continuous
from diprl.verify.context import Context, outputs_of, terminal_of
from diprl.verify.exact.box import Box, State
from diprl.verify.exact.cells import Leaf
from diprl.verify.exact.constraint import Constraint, Place, Weights, padded
from diprl.verify.exact.outputs import Way, ways_above_zero
from diprl.verify.exact.question import Question
from diprl.verify.properties.counterexamples import Counterexamples, States
from diprl.verify.properties.never import uses
from diprl.verify.report import Answer
from diprl.verify.spec.fields import Fields, read_index
from diprl.verify.spec.scope import Scope
from diprl.verify.spec.tree import SpecError


@dataclass(frozen=True)
class NeverSwitches:
    """Raising one feature alone never switches from one action to another."""

    kind: ClassVar[str] = "monotone"
    name: str
    box: Box
    feature: int
    before: int
    after: int

    def check(self, context: Context) -> Answer:
        def ways(first: Leaf, second: Leaf) -> list[Way]:
            return [()] if uses(first.terminal, self.before) and uses(second.terminal, self.after) else []

        def violated(state: State, raised: State) -> bool:
            first, second = (terminal_of(context.program, place) for place in (state, raised))
            return uses(first, self.before) and uses(second, self.after)

        names = context.program.signature.actions.names
        effect = f"switch from {names[self.before]} to {names[self.after]}"
        return _check_raised(context, self.box, self.feature, ways, violated, effect)


@dataclass(frozen=True)
class MonotoneOutput:
    """Raising one feature alone never lowers an output, or never raises it."""

    kind: ClassVar[str] = "monotone"
    name: str
    box: Box
    feature: int
    output: int
    rising: bool

    def check(self, context: Context) -> Answer:
        actions = context.program.signature.actions
        assert isinstance(actions, Continuous)  # outputs are read for them only
        sign = 1 if self.rising else -1

        def ways(first: Leaf, second: Leaf) -> Iterable[Way]:
            return ways_above_zero(actions, [(sign, first, self.output), (-sign, second, self.output)])

        def violated(state: State, raised: State) -> bool:
            before, after = (outputs_of(context.program, place)[self.output] for place in (state, raised))
            return after < before if self.rising else after > before

        effect = f"{'lower' if self.rising else 'raise'} {actions.names[self.output]}"
        return _check_raised(context, self.box, self.feature, ways, violated, effect)


def read_monotone(fields: Fields, name: str, scope: Scope) -> NeverSwitches | MonotoneOutput:
    feature = fields.need("feature", scope.feature)
    if scope.continuous:
        output = fields.need("output", lambda tree: read_index(tree, scope.actions, "an output"))
        directions = ["never falls", "never rises"]
        direction = fields.need("direction", lambda tree: read_index(tree, directions, "a direction"))
        return MonotoneOutput(name, scope.box, feature, output, rising=direction == 0)
    before, after = fields.need("never_from", scope.action), fields.need("to", scope.action)
    if before == after:
        raise SpecError(f"line {fields.line}: 'never_from:' and 'to:' must be different actions")
    return NeverSwitches(name, scope.box, feature, before, after)


def _check_raised(
    context: Context,
    box: Box,
    feature: int,
    ways: Callable[[Leaf, Leaf], Iterable[Way]],
    violated: Callable[[State, State], bool],
    effect: str,
) -> Answer:
    """Whether any state of the box and the same state with its feature raised have an unwanted effect.

    The question's variables are the features and, behind them, the raised value.
    """
    size, name = len(context.names), context.names[feature]
    before, after = padded(1), _raised(feature)

    def states(values: Sequence[float]) -> States | None:
        state = box.clamp(values[:size])
        raised = box.clamp((*state[:feature], values[size], *state[feature + 1 :]))
        return {"state": state, "raised state": raised} if raised[feature] > state[feature] else None

    given = [constraint.at(place) for constraint in box.constraints() for place in (before, after)]
    question = Question(size + 1, context.deadline, given)
    rise = tuple(Fraction((index == size) - (index == feature)) for index in range(size + 1))
    question.push(Constraint(rise, Fraction(0), strict=True))
    root = context.program.root
    nothing = f"{name} has one value in the box and cannot be raised"
    found = Counterexamples(((root, before), (root, after)), ways, states, violated, nothing=nothing)
    answer = found.answer(context, question, f"raising {name} alone can {effect}")
    return answer or Answer("proved", f"raising {name} alone can nowhere in the box {effect}")


def _raised(feature: int) -> Place:
    """Evaluates at the raised state: the feature's weight belongs to the last variable."""

    def place(weights: Weights) -> Weights:
        return (*weights[:feature], Fraction(0), *weights[feature + 1 :], weights[feature])

    return place

"""What can happen to the action when a single feature is raised and everything else stays."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from diprl.program.signature import Continuous
from diprl.verify.context import Context
from diprl.verify.exact.cells import Leaf
from diprl.verify.exact.linear import Box, Constraint, Place
from diprl.verify.exact.outputs import Way, ways_above_zero
from diprl.verify.properties.counterexamples import Counterexamples
from diprl.verify.properties.never import uses
from diprl.verify.report import Answer
from diprl.verify.spec.asked import Asked, read_index
from diprl.verify.spec.tree import SpecError

_DIRECTIONS = ("never falls", "never rises")


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

        names = context.program.signature.actions.names
        effect = f"switch from {names[self.before]} to {names[self.after]}"
        return _check_raised(context, self.box, self.feature, ways, effect)


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

        effect = f"{'lower' if self.rising else 'raise'} {actions.names[self.output]}"
        return _check_raised(context, self.box, self.feature, ways, effect)


def read_monotone(name: str, asked: Asked) -> NeverSwitches | MonotoneOutput:
    feature = asked.take("feature", asked.feature)
    if asked.continuous:
        output = asked.take("output", asked.action)
        direction = asked.take("direction", lambda tree: read_index(tree, _DIRECTIONS, "a direction"))
        return MonotoneOutput(name, asked.box, feature, output, rising=direction == 0)
    before, after = asked.take("never_from", asked.action), asked.take("to", asked.action)
    if before == after:
        raise SpecError(f"line {asked.line}: 'never_from:' and 'to:' must be different actions")
    return NeverSwitches(name, asked.box, feature, before, after)


def _check_raised(
    context: Context,
    box: Box,
    feature: int,
    ways: Callable[[Leaf, Leaf], Iterable[Way]],
    effect: str,
) -> Answer:
    """Whether any state of the box and the same state with its feature raised have an unwanted effect.

    The question's variables are the features and, behind them, the raised value.
    """
    size, name = len(context.names), context.names[feature]
    before = Place.first(size, extra=1)
    after = Place(size + 1, (*before.features[:feature], (size, 1), *before.features[feature + 1 :]))
    rise = tuple(Fraction((index == size) - (index == feature)) for index in range(size + 1))
    found = Counterexamples(
        context,
        (("state", context.program, before), ("raised state", context.program, after)),
        Box((*box.low, box.low[feature]), (*box.high, box.high[feature])),
        ways,
        (Constraint(rise, Fraction(0), strict=True),),
        nothing=f"{name} has one value in the box and cannot be raised",
    )
    answer = found.answer(f"raising {name} alone can {effect}")
    return answer or Answer("proved", f"raising {name} alone can nowhere in the box {effect}")

"""What can happen to the action when a single feature is raised and everything else stays."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from diprl.verify.context import Context
from diprl.verify.exact.cells import Leaf, Way, ways_above_zero
from diprl.verify.exact.linear import Box, Constraint
from diprl.verify.properties.actions import uses
from diprl.verify.properties.counterexamples import Counterexamples
from diprl.verify.report import Answer
from diprl.verify.spec.asked import Asked

_DIRECTIONS = ("never falls", "never rises")


@dataclass(frozen=True)
class Switch:
    """Another action than before."""

    before: int
    after: int

    def ways(self, first: Leaf, second: Leaf) -> Iterable[Way]:
        return [()] if uses(first.terminal, self.before) and uses(second.terminal, self.after) else []

    def text(self, names: tuple[str, ...]) -> str:
        return f"switch from {names[self.before]} to {names[self.after]}"


@dataclass(frozen=True)
class Change:
    """A lower output than before or, where the sign is −1, a higher one."""

    output: int
    sign: int

    def ways(self, first: Leaf, second: Leaf) -> Iterable[Way]:
        return ways_above_zero([(self.sign, first, self.output), (-self.sign, second, self.output)])

    def text(self, names: tuple[str, ...]) -> str:
        return f"{'lower' if self.sign == 1 else 'raise'} {names[self.output]}"


@dataclass(frozen=True)
class Monotone:
    """Raising one feature alone never has an effect."""

    kind: ClassVar[str] = "monotone"
    name: str
    box: Box
    feature: int
    effect: Switch | Change

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Monotone":
        feature = asked.take("feature", asked.feature)
        if asked.continuous:
            output = asked.take("output", asked.action)
            direction = asked.choice("direction", _DIRECTIONS, "a direction")
            return cls(name, asked.box, feature, Change(output, 1 if direction == _DIRECTIONS[0] else -1))
        switch = Switch(asked.take("never_from", asked.action), asked.take("to", asked.action))
        if switch.before == switch.after:
            raise asked.error("'never_from:' and 'to:' must be different actions")
        return cls(name, asked.box, feature, switch)

    def check(self, context: Context) -> Answer:
        """Whether any state of the box and the same state with its feature raised have the effect.

        The question's variables are the features and, behind them, the raised value.
        """
        box, feature, size = self.box, self.feature, len(context.names)
        ((_, program, place),) = context.evaluated
        after = (*place[:feature], (size, 1), *place[feature + 1 :])
        rise = tuple(Fraction((index == size) - (index == feature)) for index in range(size + 1))
        name, effect = context.names[feature], self.effect.text(context.program.signature.actions.names)
        found = Counterexamples(
            context,
            (*context.evaluated, ("raised state", program, after)),
            Box((*box.low, box.low[feature]), (*box.high, box.high[feature])),
            self.effect.ways,
            (Constraint(rise, Fraction(0), strict=True),),
            nothing=f"{name} has one value in the box and cannot be raised",
        )
        answer = found.answer(f"raising {name} alone can {effect}")
        return answer or Answer("proved", f"raising {name} alone can nowhere in the box {effect}")

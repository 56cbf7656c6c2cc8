"""Does a program act as it should at two states that belong together: one raised, or one in the mirror?"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from diprl.program.ast import Act, Affine, Blend, Terminal
from diprl.verify.context import Context
from diprl.verify.exact.cells import Leaf, Way, cells, disagreements, ways_above_zero
from diprl.verify.exact.linear import Box, Constraint
from diprl.verify.properties.actions import acts_text, regions_text, uses
from diprl.verify.properties.counterexamples import Counterexamples
from diprl.verify.report import Answer, named_text
from diprl.verify.spec import Asked, Tree

_DIRECTIONS = ("never falls", "never rises")
_ASSUMED = (
    "states exactly on a threshold are left out, where the strict '>' favours one side",
    "the box is cut down to the states whose mirror image lies in it too",
)


def switch(before: int, after: int, first: Leaf, second: Leaf) -> Iterable[Way]:
    """Where the first leaf takes one action and the second another."""
    return [()] if uses(first.terminal, before) and uses(second.terminal, after) else []


def lower(output: int, sign: int, first: Leaf, second: Leaf) -> Iterable[Way]:
    """Where the second leaf has a lower output or, where the sign is −1, a higher one."""
    return ways_above_zero([(sign, first, output), (-sign, second, output)])


@dataclass(frozen=True)
class Monotone:
    """Raising one feature alone never has an effect."""

    name: str
    box: Box
    feature: int
    effect: str
    """What never happens, in words."""
    ways: Callable[[Leaf, Leaf], Iterable[Way]]
    """Where the leaves of a state and of the raised state show the effect."""

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Monotone":
        feature = asked.take("feature", asked.feature)
        if asked.continuous:
            output = asked.take("output", asked.action)
            falls = asked.choice("direction", _DIRECTIONS, "a direction") == _DIRECTIONS[0]
            effect = f"{'lower' if falls else 'raise'} {asked.actions[output]}"
            return cls(name, asked.box, feature, effect, partial(lower, output, 1 if falls else -1))
        before, after = asked.take("never_from", asked.action), asked.take("to", asked.action)
        if before == after:
            raise asked.error("'never_from:' and 'to:' must be different actions")
        effect = f"switch from {asked.actions[before]} to {asked.actions[after]}"
        return cls(name, asked.box, feature, effect, partial(switch, before, after))

    def check(self, context: Context) -> Answer:
        """Whether any state of the box and the same state with its feature raised have the effect.

        The question's variables are the features and, behind them, the raised value.
        """
        box, feature, size = self.box, self.feature, len(context.names)
        ((_, program, place),) = context.evaluated
        after = (*place[:feature], (size, 1), *place[feature + 1 :])
        rise = tuple(Fraction((index == size) - (index == feature)) for index in range(size + 1))
        name = context.names[feature]
        found = Counterexamples(
            context,
            (*context.evaluated, ("raised state", program, after)),
            Box((*box.low, box.low[feature]), (*box.high, box.high[feature])),
            self.ways,
            (Constraint(rise, Fraction(0), strict=True),),
            nothing=f"{name} has one value in the box and cannot be raised",
        )
        answer = found.answer(f"raising {name} alone can {self.effect}")
        return answer or found.proved(f"raising {name} alone can nowhere in the box {self.effect}")


@dataclass(frozen=True)
class Symmetric:
    """At the mirrored state the program takes the mirrored action."""

    name: str
    box: Box
    negate: tuple[int, ...]
    """Features that change sign in the mirror."""
    mirror: tuple[int, ...]
    """For each action or primitive, its mirror image; continuous outputs change sign."""

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Symmetric":
        def read_mirror(tree: Tree) -> tuple[int, ...]:
            images = tree.mapping(asked.action, asked.action)
            mirror = tuple(images.get(action, action) for action in themselves)
            if sorted(mirror) != list(themselves):
                raise tree.error("'mirror:' must give every action exactly one mirror image")
            return mirror

        themselves = tuple(range(len(asked.actions)))
        negate = asked.take("negate", lambda tree: tree.items(asked.feature), tuple(range(len(asked.features))))
        mirror = themselves if asked.continuous else asked.take("mirror", read_mirror)
        return cls(name, asked.box, negate, mirror)

    def check(self, context: Context) -> Answer:
        """Examined off the thresholds, which are where a symmetric program need not be symmetric."""
        image = tuple((index, -1 if index in self.negate else 1) for index in range(len(context.names)))

        def ways(first: Leaf, second: Leaf) -> Iterator[Way]:
            return disagreements(replace(first, terminal=self._image(first.terminal)), second, sign=-1)

        def mirrored(terminal: Terminal, where: Sequence[Constraint]) -> str:
            """The mirror image of a region; outputs are compared with their signs changed."""
            negated = "the negative of " if isinstance(terminal, Affine) else ""
            there = [constraint.at(image) for constraint in where]
            return f"; mirrored: {negated}{acts_text(context, self._image(terminal), there)}"

        found = Counterexamples(
            context,
            (*context.evaluated, ("mirrored state", context.program, image)),
            self.box,
            ways,
            tuple(constraint.at(image) for constraint in self.box.constraints()),
            thresholds=False,
            nothing="every state lies on a threshold or has no mirror image in the box",
        )
        answer = found.answer("the mirrored state gets another action")
        if answer is None:
            question = context.question(self.box)
            leaves = [leaf for (leaf,) in cells(question, context.evaluated, thresholds=False)]
            notes = (*regions_text(context, self.box, leaves, mirrored), _threshold_note(context, found))
            proved = "every mirrored state off the thresholds gets the mirrored action"
            answer = Answer("proved", proved, notes, real_only=True)
        return replace(answer, assumptions=_ASSUMED)

    def _image(self, terminal: Terminal) -> Terminal:
        """The mirror image of an action; that of outputs is not a terminal."""
        if isinstance(terminal, Act):
            return Act(self.mirror[terminal.action])
        if isinstance(terminal, Blend):
            images = sorted(zip(self.mirror, terminal.weights, strict=True))
            return Blend(tuple(weight for _, weight in images))
        return terminal


def _threshold_note(context: Context, found: Counterexamples) -> str:
    """Whether the states that were left out are symmetric too."""
    exception, unconfirmed = replace(found, thresholds=True).first()
    if exception:
        example = named_text(context.named(exception["state"]))
        return f"on the thresholds themselves there are exceptions, such as {example}"
    if unconfirmed:
        return "on the thresholds themselves there may be exceptions"
    return "no exception on the thresholds either"

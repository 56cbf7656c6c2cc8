"""Looks for states at which a property is false: in real arithmetic first, then as floats that are replayed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite

import numpy as np

from diprl.program.ast import conditions
from diprl.verify.closed_loop.loop import Loop
from diprl.verify.closed_loop.simulate import environment_states
from diprl.verify.context import Context, action_text
from diprl.verify.exact import linear
from diprl.verify.exact.cells import Evaluated, Way, cells, interpreted
from diprl.verify.exact.linear import EXACT, Box, Errors, Point, State
from diprl.verify.exact.question import Question, Undecided
from diprl.verify.report import Answer, Witness

States = dict[str, State]
"""States by their labels, such as 'state' and 'mirrored state'."""

_DIGITS = (2, 3, 4, 6, 9, 12)
_REAL_ONLY = "proved in real arithmetic only"
_SANE = 1e6
"""States beyond this are not handed to an environment."""


@dataclass(frozen=True)
class Counterexamples:
    """What would show a property false: the points of a box at which certain leaves meet in certain ways."""

    context: Context
    evaluated: tuple[Evaluated, ...]
    """Which programs are evaluated where."""
    box: Box
    """Of the question's variables."""
    ways: Callable[..., Iterable[Way]]
    """Under what further conditions the leaves that are reached break the property."""
    given: Way = ()
    """What else holds at the points that are examined."""
    distances: Way = ()
    """What makes variables behind the features distances."""
    completed: Callable[[State], Point] = lambda values: values
    """Gives the features' values together with the distances that belong to them."""
    thresholds: bool = True
    """Whether states exactly on a threshold count."""
    shown: States = field(default_factory=dict)
    """Further states for the witness."""
    nothing: str = "no state of the box satisfies its conditions"
    """Why there may be nothing to examine."""

    def visit(self, question: Question, errors: Errors = EXACT) -> Iterator[bool]:
        """False where leaves meet, and then True for each way in which the question has a counterexample there."""
        for leaves in cells(question, self.evaluated, errors, self.thresholds):
            yield False
            for way in self.ways(*leaves):
                with question.asking(way) as possible:
                    if possible:
                        yield True

    def question(self) -> Question:
        return self.context.question(self.box, self.distances, self.given)

    def first(self) -> tuple[States | None, Point | None]:
        """The first counterexample that can be replayed, or else a point that cannot."""
        unconfirmed = None
        question = self.question()
        for _ in filter(None, self.visit(question)):
            point = question.point()
            for values in rounded_points(self.context, point):
                states = self._replayed(values)
                if states is not None:
                    return {**self.shown, **states}, None
            unconfirmed = unconfirmed or point
        return None, unconfirmed

    def answer(self, refuted: str) -> Answer | None:
        """Refuted with a witness, or unknown with the reason; None where there is no counterexample."""
        if not any(True for _ in self.visit(self.question())):
            return Answer("unknown", f"nothing examined: {self.nothing}")
        states, unconfirmed = self.first()
        if states is not None:
            return Answer("refuted", refuted, (), _witness(self.context, states))
        if unconfirmed is None:
            return None
        values = ", ".join(f"{linear.nearest_float(Fraction(value))!r}" for value in unconfirmed)
        sentence = "real arithmetic has a counterexample, but it does not reproduce in the interpreter"
        return Answer("unknown", sentence, (f"the point, rounded to floats: {values}",))

    def proved(self, summary: str, *notes: str) -> Answer:
        """There is no counterexample; the verdict says whether that holds in the arithmetic that runs too."""
        covered = self.float_note()
        return Answer("proved", summary, (*notes, covered), real_only=covered.startswith(_REAL_ONLY))

    def float_note(self) -> str:
        """Whether a proof covers rounding too: it is repeated with everything off by what rounding can do."""
        only, kind = _REAL_ONLY, f"{self.context.arithmetic} arithmetic"
        size = len(self.context.names)  # further variables are raised features, within the same bounds, or distances
        features = Box(self.box.low[:size], self.box.high[:size])
        found = [linear.errors_in(features, program, self.context.arithmetic) for _, program, _ in self.evaluated]
        errors = {form: error for one in found if one is not None for form, error in one.items()}
        if None in found:
            return f"{only}: the box or the numbers are too large to bound the errors of {kind}"
        try:
            covered = not any(self.visit(self.question(), errors))
        except Undecided as reason:
            return f"{only}: for {kind}, {reason}"
        largest = f"{linear.nearest_float(max(errors.values(), default=Fraction(0))):.1e}"
        if covered:
            return f"{kind}: covered too (conditions and outputs may be off by {largest})"
        return f"{only}: in {kind}, a condition or an output may be off by {largest}"

    def violated(self, states: States) -> bool:
        """Whether the interpreter breaks the property; an output that is no finite number shows nothing."""
        leaves = [interpreted(program, states[label]) for label, program, _ in self.evaluated]
        if not all(isfinite(output) for leaf in leaves for output in leaf.outputs or ()):
            return False
        return any(all(constraint.holds(()) for constraint in way) for way in self.ways(*leaves))

    def _replayed(self, values: Sequence[float]) -> States | None:
        """The states that rounded values stand for, where the interpreter confirms that they break the property.

        Where the plant shows 32-bit numbers, it must do so on those as well, and where the program runs in 32 bits,
        also when it calculates in them.
        """
        values = self.box.clamp(values)
        if not all(constraint.holds(self.completed(values)) for constraint in self.given):
            return None
        states = {label: tuple(sign * values[index] for index, sign in place) for label, _, place in self.evaluated}
        for label, program, _ in self.evaluated if not self.thresholds else ():
            rows = (linear.of_condition(condition) for condition in conditions(program.root))
            if any(any(row.weights) and row.value(states[label]) == 0 for row in rows):
                return None
        kinds = [tuple] + [linear.observed] * bool(self.context.plant and self.context.plant.single)
        kinds += [linear.in_single] * (self.context.arithmetic == "float32")
        with np.errstate(all="ignore"):
            confirmed = (self.violated({label: kind(state) for label, state in states.items()}) for kind in kinds)
            return states if all(confirmed) else None


def rounded_points(context: Context, point: Point) -> Iterator[list[float]]:
    """Finite floats near a point, those with the fewest digits first."""
    values = [linear.nearest_float(Fraction(value)) for value in point]
    for digits in _DIGITS:
        context.deadline.remaining()
        yield [min(max(float(f"{value:.{digits - 1}e}"), -linear.LARGEST), linear.LARGEST) for value in values]
    yield values


def _witness(context: Context, states: States) -> Witness:
    """States that show a property false, each replayed: in the interpreter and, with a plant, in the environment."""
    program, plant = context.program, context.plant
    plain = plant is not None and plant.environment and all(one.text in plant.states for one in plant.features.values())
    replays = []
    for label, state in states.items():
        where = f" at the {label}" if len(states) > 1 else ""
        replays.append(f"the interpreter gives '{action_text(program, state)}'{where}")
        sane = all(abs(value) < _SANE for value in state)
        if plant is not None and plain and sane and not any(end(plant.values(state)) for end in plant.ends):
            after = environment_states(Loop(program, plant, (0.0,) * len(state)), state, 1, context.deadline)[-1]
            follows = ", ".join(f"{value:.6g}" for value in after)
            shown = f"the program gives '{action_text(program, linear.observed(state))}', next state ({follows})"
            replays.append(f"{plant.environment}{where}: {shown}")
    return Witness(tuple((label, context.named(state)) for label, state in states.items()), tuple(replays))

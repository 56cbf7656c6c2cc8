"""Looks for states at which a property is false: in real arithmetic first, then as floats that are replayed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite

from diprl.program import Program
from diprl.program.ast import conditions
from diprl.verify.closed_loop.models import trajectory
from diprl.verify.context import Context, action_text
from diprl.verify.exact.cells import interpreted, joint_cells
from diprl.verify.exact.distance import Ruler
from diprl.verify.exact.linear import Box, Constraint, Place, Point, State, of_condition
from diprl.verify.exact.outputs import Way
from diprl.verify.exact.question import Question, Undecided
from diprl.verify.exact.rounding import Margin, box_margin, nearest_float, no_margin, observed, with_digits
from diprl.verify.report import Answer, Witness

States = dict[str, State]
"""States by their labels, such as 'state' and 'mirrored state'."""

_DIGITS = (2, 3, 4, 6, 9, 12)


@dataclass(frozen=True)
class Counterexamples:
    """What would show a property false: the points of a box at which certain leaves meet in certain ways."""

    context: Context
    evaluated: tuple[tuple[str, Program, Place], ...]
    """Which programs are evaluated where; the label names the state in a witness."""
    box: Box
    """Of the question's variables."""
    ways: Callable[..., Iterable[Way]]
    """Under what further conditions the leaves that are reached break the property."""
    given: tuple[Constraint, ...] = ()
    """What else holds at the points that are examined."""
    ruler: Ruler | None = None
    """Where the question's variables include distances."""
    thresholds: bool = True
    """Whether states exactly on a threshold count."""
    shown: States = field(default_factory=dict)
    """Further states for the witness."""
    nothing: str = "no state of the box satisfies its conditions"
    """Why there may be nothing to examine."""

    def visit(self, question: Question, margin: Margin = no_margin) -> Iterator[None]:
        """Make the question ask for one counterexample after the other, yielding at each."""
        for leaves in joint_cells(question, self._places, margin, self.thresholds):
            for way in self.ways(*leaves):
                with question.asking(way) as possible:
                    if possible:
                        yield

    def first(self) -> tuple[States | None, Point | None]:
        """The first counterexample that can be replayed, or else a point that cannot."""
        unconfirmed = None
        question = self._question()
        for _ in self.visit(question):
            point = question.point()
            for values in rounded_points(self.context, point):
                states = self._states(values)
                if states is not None and self._confirmed(states):
                    return {**self.shown, **states}, None
            unconfirmed = unconfirmed or point
        return None, unconfirmed

    def answer(self, refuted: str, assumptions: tuple[str, ...] = ()) -> Answer | None:
        """Refuted with a witness, or unknown with the reason; None where there is no counterexample."""
        if not any(True for _ in joint_cells(self._question(), self._places, thresholds=self.thresholds)):
            return Answer("unknown", f"nothing examined: {self.nothing}", assumptions=assumptions)
        states, unconfirmed = self.first()
        if states is not None:
            return Answer("refuted", refuted, (), _witness(self.context, states), assumptions)
        if unconfirmed is None:
            return None
        values = ", ".join(f"{nearest_float(Fraction(value))!r}" for value in unconfirmed)
        sentence = "real arithmetic has a counterexample, but rounded to floats it does not reproduce in the "
        return Answer("unknown", f"{sentence}interpreter", (f"the point, rounded: {values}",))

    def nearest(self, ruler: Ruler) -> Fraction | None:
        """The exact infimum of the distance over all counterexamples, or None where there is none.

        The optimum is not taken on trust: a second question finds nothing that is closer.
        """
        question = self._question()
        found = [question.least(ruler.length) for _ in self.visit(question)]
        if None in found:
            raise Undecided("z3 finds no least distance, though distances are never negative")
        radius = min((value for value in found if value is not None), default=None)
        if radius is not None:
            question.push(ruler.within(radius, strict=True))
            if any(True for _ in self.visit(question)):
                raise Undecided("the optimum that z3 reports is not one")
        return radius

    def float_note(self) -> str:
        """Whether a proof covers float64 too: it is repeated with everything off by what rounding can do."""
        only = "proved in real arithmetic only"
        found = box_margin(self.context.program.root, self.box)
        if found is None:
            return f"{only}: the box or the numbers are too large to bound the errors of float64 arithmetic"
        margin, largest = found
        try:
            covered = not any(True for _ in self.visit(self._question(), margin))
        except Undecided as reason:
            return f"{only}: for float64 arithmetic, {reason}"
        size = f"{nearest_float(largest):.1e}"
        if covered:
            return f"float64 arithmetic: covered too (conditions and outputs may be off by {size})"
        return f"{only}: in float64 arithmetic, a condition or an output may be off by {size}"

    def violated(self, states: States) -> bool:
        """Whether the interpreter breaks the property; an output that is no finite number shows nothing."""
        leaves = [interpreted(program, states[label]) for label, program, _ in self.evaluated]
        if not all(isfinite(output) for leaf in leaves for output in leaf.outputs or ()):
            return False
        return any(all(constraint.holds(()) for constraint in way) for way in self.ways(*leaves))

    @property
    def _places(self) -> list[tuple[Program, Place]]:
        return [(program, place) for _, program, place in self.evaluated]

    def _question(self) -> Question:
        fixed = [*self.box.constraints(), *(self.ruler.constraints() if self.ruler else ())]
        question = Question(len(self.box.low), self.context.deadline, fixed)
        question.push(*self.given)
        return question

    def _states(self, values: Sequence[float]) -> States | None:
        """The states that rounded values stand for; None where the property is not about them."""
        point = self.ruler.completed(self.box.clamp(values)) if self.ruler else self.box.clamp(values)
        if not all(constraint.holds(point) for constraint in self.given):
            return None
        if not self.thresholds and any(_on_threshold(each, place, point) for each, place in self._places):
            return None
        return {label: place.state(point) for label, _, place in self.evaluated}

    def _confirmed(self, states: States) -> bool:
        """Whether the interpreter agrees, also on what an environment shows of the states."""
        if not self.violated(states):
            return False
        shown = {label: observed(state) for label, state in states.items()}
        return self.context.model is None or self.violated(shown)


def rounded_points(context: Context, point: Point) -> Iterator[list[float]]:
    """Floats near a point, those with the fewest digits first."""
    values = [nearest_float(Fraction(value)) for value in point]
    for digits in _DIGITS:
        context.deadline.remaining()
        yield [with_digits(value, digits) for value in values]
    yield values


def _on_threshold(program: Program, place: Place, point: Point) -> bool:
    """Whether some condition that reads a feature is exactly zero."""
    rows = (of_condition(condition) for condition in conditions(program.root) if any(condition.weights))
    return any(row.value(place.state(point)) == 0 for row in rows)


def _witness(context: Context, states: States) -> Witness:
    """States that show a property false, each replayed."""
    replays = [
        sentence
        for label, state in states.items()
        for sentence in _replays(context, state, f" at the {label}" if len(states) > 1 else "")
    ]
    return Witness(tuple((label, context.named(state)) for label, state in states.items()), tuple(replays))


def _replays(context: Context, state: State, where: str) -> list[str]:
    """What the program does at a state: in the interpreter and, where there is a model, in the environment."""
    program, model = context.program, context.model
    sentences = [f"the interpreter gives '{action_text(program, state)}'{where}"]
    if model is not None and model.going_on.contains(state) and model.reached.contains(state):
        after = trajectory(model, program, state, 1)[-1]
        shown = action_text(program, observed(state))
        follows = ", ".join(f"{value:.6g}" for value in after)
        sentences.append(f"{model.environment}{where}: the program gives '{shown}', next state ({follows})")
    return sentences

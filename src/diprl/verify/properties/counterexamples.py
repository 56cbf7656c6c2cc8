"""Looks for states at which a property is false: in real arithmetic first, then as floats that are replayed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from diprl.program.ast import Node
from diprl.verify.closed_loop.environment import trajectory
from diprl.verify.context import Context, leaf_text, terminal_of
from diprl.verify.deadline import Undecided
from diprl.verify.exact.box import Box, State
from diprl.verify.exact.cells import joint_cells
from diprl.verify.exact.constraint import Place
from diprl.verify.exact.outputs import Way
from diprl.verify.exact.question import Question
from diprl.verify.exact.rounding import Margin, box_margin, nearest_float, no_margin, observed, with_digits
from diprl.verify.report import Answer, Witness

States = dict[str, State]
"""States by their labels, such as 'state' and 'mirrored state'."""
Point = Sequence[Fraction]

_DIGITS = (2, 3, 4, 6, 9, 12)


@dataclass(frozen=True)
class Counterexamples:
    """What would show a property false."""

    evaluated: tuple[tuple[Node, Place], ...]
    """Programs, and where among the question's variables they are evaluated."""
    ways: Callable[..., Iterable[Way]]
    """Under what further conditions the leaves that they reach break the property."""
    states: Callable[[Sequence[float]], States | None]
    """The states that a point stands for, put back into the box; None where the property is not about them."""
    violated: Callable[..., bool]
    """Whether the interpreter breaks the property at these states."""
    thresholds: bool = True
    """Whether states exactly on a threshold count."""
    nothing: str = "no state of the box satisfies its conditions"
    """Why there may be nothing to examine."""

    def visit(self, question: Question, margin: Margin = no_margin) -> Iterator[None]:
        """Make the question ask for one counterexample after the other, yielding at each."""
        for leaves in joint_cells(question, self.evaluated, margin, self.thresholds):
            for way in self.ways(*leaves):
                with question.asking(way) as possible:
                    if possible:
                        yield

    def first(self, context: Context, question: Question) -> tuple[States | None, Point | None]:
        """The first counterexample that can be replayed, or else a point that cannot."""
        unconfirmed = None
        for _ in self.visit(question):
            point = question.point()
            states = settled(context, point, self.states, lambda states: self._confirmed(context, states))
            if states is not None:
                return states, None
            unconfirmed = unconfirmed or point
        return None, unconfirmed

    def _confirmed(self, context: Context, states: States) -> bool:
        """Whether the interpreter agrees, also on what an environment shows of the states."""
        if not self.violated(*states.values()):
            return False
        return context.model is None or self.violated(*map(observed, states.values()))

    def answer(
        self, context: Context, question: Question, refuted: str, assumptions: tuple[str, ...] = ()
    ) -> Answer | None:
        """Refuted with a witness, or unknown with the reason; None where there is no counterexample."""
        if not any(True for _ in joint_cells(question, self.evaluated, thresholds=self.thresholds)):
            return Answer("unknown", f"nothing examined: {self.nothing}", assumptions=assumptions)
        states, unconfirmed = self.first(context, question)
        if states is not None:
            return Answer("refuted", refuted, (), witness(context, states), assumptions)
        return None if unconfirmed is None else _unconfirmed_answer(unconfirmed)

    def float_note(self, context: Context, box: Box, question: Question) -> str:
        """Whether a proof covers float64 too: it is repeated with everything off by what rounding can do."""
        only = "proved in real arithmetic only"
        found = box_margin(context.program.root, box)
        if found is None:
            return f"{only}: the box or the numbers are too large to bound the errors of float64 arithmetic"
        margin, largest = found
        try:
            covered = not any(True for _ in self.visit(question, margin))
        except Undecided as reason:
            return f"{only}: for float64 arithmetic, {reason}"
        size = f"{nearest_float(largest):.1e}"
        if covered:
            return f"float64 arithmetic: covered too (conditions and outputs may be off by {size})"
        return f"{only}: in float64 arithmetic, a condition or an output may be off by {size}"


def settled(
    context: Context,
    point: Point,
    states_of: Callable[[Sequence[float]], States | None],
    confirmed: Callable[[States], bool],
) -> States | None:
    """The states near a point with the fewest digits that are confirmed."""
    values = [nearest_float(value) for value in point]
    for digits in (*_DIGITS, None):
        context.deadline.remaining()
        states = states_of([with_digits(value, digits) for value in values] if digits else values)
        if states is not None and confirmed(states):
            return states
    return None


def witness(context: Context, states: States) -> Witness:
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
    sentences = [f"the interpreter gives '{leaf_text(program, terminal_of(program, state))}'{where}"]
    if model is not None and model.going_on.contains(state) and model.reached.contains(state):
        after = trajectory(model, program, state, 1, context.deadline)[-1]
        shown = leaf_text(program, terminal_of(program, observed(state)))
        follows = ", ".join(f"{value:.6g}" for value in after)
        sentences.append(f"{model.environment}{where}: the program gives '{shown}', next state ({follows})")
    return sentences


def _unconfirmed_answer(point: Point) -> Answer:
    """A counterexample that only exists on paper refutes nothing."""
    values = ", ".join(f"{nearest_float(value)!r}" for value in point)
    return Answer(
        "unknown",
        "real arithmetic has a counterexample, but rounded to floats it does not reproduce in the interpreter",
        (f"the point, rounded: {values}",),
    )

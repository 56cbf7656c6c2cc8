"""How far a state can move before the program acts differently."""

from collections.abc import Iterator
from fractions import Fraction

from diprl.verify.cells import Place, cells
from diprl.verify.context import Context, State, leaf_text, terminal_of
from diprl.verify.distance import Ruler, nearest, points_within
from diprl.verify.question import Question
from diprl.verify.report import Answer, named_text
from diprl.verify.spec import Robust
from diprl.verify.witness import also_observed, first_confirmed, unconfirmed_answer, witness

_BEYOND = Fraction(1001, 1000)
"""Where the nearest change lies on a threshold, it is shown this much further away."""


def check_robust(context: Context, wanted: Robust) -> Answer:
    """The exact radius around the state within which the terminal stays the same."""
    program = context.program
    current = terminal_of(program, wanted.state)
    ruler = Ruler(wanted.state, wanted.scales, wanted.norm)

    def others(question: Question, place: Place) -> Iterator[None]:
        for leaf in cells(question, program.root, place):
            if leaf.terminal != current:
                yield

    radius = nearest(ruler, wanted.box, context.deadline, others)
    action = leaf_text(program, current)
    if radius is None:
        return Answer("proved", f"every state of the box gets '{action}'")
    sentence = f"states closer than {float(radius):.9g} keep '{action}', and that radius is exact"
    limit = Fraction(wanted.at_least) if wanted.at_least is not None else radius
    strict = wanted.at_least is not None and radius < limit
    reach = limit if strict else max(radius * _BEYOND, Fraction(1, 10**9))

    differs = also_observed(context, lambda state: terminal_of(program, state) != current)

    def confirm(state: State) -> bool:
        distance = ruler.measure(state)
        return (distance < reach if strict else distance <= reach) and differs(state)

    points = points_within(ruler, wanted.box, context.deadline, others, reach, strict)
    state, unconfirmed = first_confirmed(points, wanted.box.clamp, confirm)
    if strict and state is not None:
        return Answer("refuted", sentence, (), witness(context, state=wanted.state, changed_state=state))
    if strict and unconfirmed is not None:
        return unconfirmed_answer(unconfirmed)
    shown = () if state is None else (_other_action(context, state),)
    return Answer("proved", sentence, (f"measured as the {wanted.norm} of the scaled changes", *shown))


def _other_action(context: Context, state: State) -> str:
    action = leaf_text(context.program, terminal_of(context.program, state))
    return f"'{action}' appears by {named_text(context.named(state))}"

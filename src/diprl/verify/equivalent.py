"""Do two programs act alike in a box, and where is the nearest state at which they do not?"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from diprl.program import Program
from diprl.program.ast import Affine
from diprl.program.evaluate import vector
from diprl.program.signature import Continuous
from diprl.verify.cells import Place, cells, disagreements
from diprl.verify.context import Context, State, leaf_text, terminal_of
from diprl.verify.distance import Ruler, nearest, points_within
from diprl.verify.question import Question
from diprl.verify.report import Answer, named_text
from diprl.verify.spec import Equivalent
from diprl.verify.witness import also_observed, first_confirmed, unconfirmed_answer, witness

_BEYOND = Fraction(1001, 1000)
_SAMPLES = 2_000


def check_equivalent(context: Context, wanted: Equivalent) -> Answer:
    program, other = context.program, wanted.other
    tolerance = Fraction(wanted.tolerance)

    def differences(question: Question, place: Place) -> Iterator[None]:
        for first in cells(question, program.root, place):
            for second in cells(question, other.root, place):
                for more in disagreements(first, second, program.signature, tolerance):
                    question.push(*more)
                    if question.feasible():
                        yield
                    question.pop()

    ruler = Ruler(wanted.near, wanted.scales)
    radius = nearest(ruler, wanted.box, context.deadline, differences)
    if radius is None:
        return Answer("proved", "both programs act alike in every state of the box")
    reach = max(radius * _BEYOND, Fraction(1, 10**9))
    confirm = also_observed(context, lambda state: differ(program, other, state, wanted.tolerance))
    points = points_within(ruler, wanted.box, context.deadline, differences, reach, strict=False)
    state, unconfirmed = first_confirmed(points, wanted.box.clamp, confirm)
    if state is None and unconfirmed is not None:
        return unconfirmed_answer(unconfirmed)
    if state is None:
        return Answer("unknown", "the programs differ in real arithmetic, but no differing state was found")
    theirs = leaf_text(other, terminal_of(other, state))
    shown = witness(context, state=state)
    shown = replace(shown, replays=(*shown.replays, f"the interpreter gives '{theirs}' for the other program"))
    near = f"the nearest difference to ({named_text(context.named(wanted.near))}) is {float(radius):.9g} away"
    return Answer("refuted", "the programs differ", (f"{near}, exactly", *_share(program, wanted)), shown)


def differ(program: Program, other: Program, state: State, tolerance: float) -> bool:
    """Whether the interpreter acts differently for two programs."""
    first, second = terminal_of(program, state), terminal_of(other, state)
    actions = program.signature.actions
    if not isinstance(actions, Continuous):
        return first != second
    assert isinstance(first, Affine)  # no other terminal fits
    assert isinstance(second, Affine)
    ours, theirs = (vector(leaf, state, actions.low, actions.high) for leaf in (first, second))
    return any(abs(a - b) > tolerance for a, b in zip(ours, theirs, strict=True))


def _share(program: Program, wanted: Equivalent) -> list[str]:
    """How common differing states are in the box, by a sample of it."""
    if not wanted.box.finite:
        return []
    generator = np.random.default_rng(0)
    states = generator.uniform(wanted.box.low, wanted.box.high, (_SAMPLES, len(wanted.box.low))).tolist()
    share = np.mean([differ(program, wanted.other, state, wanted.tolerance) for state in states])
    return [f"about {share:.2%} of the box differs ({_SAMPLES} random states)"]

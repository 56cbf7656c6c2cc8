"""What can happen to the action when a single feature is raised and everything else stays."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from diprl.program.ast import Affine
from diprl.program.evaluate import vector
from diprl.program.signature import Continuous
from diprl.verify.cells import Leaf, Place, cells, output_pieces, padded, placed
from diprl.verify.constraint import Constraint, Weights
from diprl.verify.context import Context, State, terminal_of
from diprl.verify.never import uses
from diprl.verify.question import Question
from diprl.verify.report import Answer
from diprl.verify.spec import MonotoneOutput, NeverSwitches
from diprl.verify.witness import also_observed, first_confirmed, unconfirmed_answer, witness


def check_monotone(context: Context, wanted: NeverSwitches | MonotoneOutput) -> Answer:
    size, feature = len(context.names), wanted.feature

    def repair(values: Sequence[float]) -> State:
        state = wanted.box.clamp(values[:size])
        return (*state, wanted.box.clamp(raised_state((*state, values[size]), feature))[feature])

    def confirm(pair: State) -> bool:
        return pair[size] > pair[feature] and _violates(context, wanted, pair)

    pair, unconfirmed = first_confirmed(_points(context, wanted), repair, also_observed(context, confirm))
    name = context.names[feature]
    effect = _effect(context, wanted)
    if pair is not None:
        states = {"state": pair[:size], "raised_state": raised_state(pair, feature)}
        return Answer("refuted", f"raising {name} alone can {effect}", (), witness(context, **states))
    if unconfirmed is not None:
        return unconfirmed_answer(unconfirmed)
    return Answer("proved", f"raising {name} alone can nowhere in the box {effect}")


def raised_state(pair: State, feature: int) -> State:
    """The state with its feature replaced by the raised value that stands behind it."""
    return (*pair[:feature], pair[-1], *pair[feature + 1 : -1])


def _raised(feature: int) -> Place:
    """Evaluates at the raised state: the feature's weight belongs to the last variable."""

    def place(weights: Weights) -> Weights:
        return (*weights[:feature], Fraction(0), *weights[feature + 1 :], weights[feature])

    return place


def _points(context: Context, wanted: NeverSwitches | MonotoneOutput) -> Iterator[tuple[Fraction, ...]]:
    """States with a raised value of the feature, for each way in which the action changes as it must not."""
    size, feature = len(context.names), wanted.feature
    before, after = padded(1), _raised(feature)
    rise = tuple(Fraction((index == size) - (index == feature)) for index in range(size + 1))
    box = wanted.box.constraints()
    given = [placed(constraint, place) for constraint in box for place in (before, after)]
    question = Question(size + 1, context.deadline, given)
    question.push(Constraint(rise, Fraction(0), strict=True))
    for first in cells(question, context.program.root, before):
        for second in cells(question, context.program.root, after):
            for more in _ways(context, wanted, first, second):
                question.push(*more)
                if question.feasible():
                    yield question.point()
                question.pop()


def _ways(
    context: Context, wanted: NeverSwitches | MonotoneOutput, first: Leaf, second: Leaf
) -> Iterator[tuple[Constraint, ...]]:
    actions = context.program.signature.actions
    if isinstance(wanted, NeverSwitches):
        if uses(first.terminal, wanted.before) and uses(second.terminal, wanted.after):
            yield ()
        return
    assert isinstance(actions, Continuous)  # outputs are read for them only
    sign = 1 if wanted.rising else -1
    ours, theirs = (output_pieces(leaf, wanted.output, actions, sign) for leaf in (first, second))
    for one, other in product(ours, theirs):
        fall = tuple(a - b for a, b in zip(one.weights, other.weights, strict=True))
        yield (*one.given, *other.given, Constraint(fall, one.bias - other.bias, strict=True))


def _violates(context: Context, wanted: NeverSwitches | MonotoneOutput, pair: State) -> bool:
    """Whether the interpreter changes its action as it must not."""
    states = pair[:-1], raised_state(pair, wanted.feature)
    first, second = (terminal_of(context.program, state) for state in states)
    if isinstance(wanted, NeverSwitches):
        return uses(first, wanted.before) and uses(second, wanted.after)
    actions = context.program.signature.actions
    assert isinstance(actions, Continuous)  # as in `_ways`
    assert isinstance(first, Affine)
    assert isinstance(second, Affine)
    before = vector(first, states[0], actions.low, actions.high)[wanted.output]
    after = vector(second, states[1], actions.low, actions.high)[wanted.output]
    return after < before if wanted.rising else after > before


def _effect(context: Context, wanted: NeverSwitches | MonotoneOutput) -> str:
    names = context.program.signature.actions.names
    if isinstance(wanted, NeverSwitches):
        return f"switch from {names[wanted.before]} to {names[wanted.after]}"
    return f"{'lower' if wanted.rising else 'raise'} {names[wanted.output]}"

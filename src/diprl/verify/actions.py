"""Which actions, or which range of outputs, a program can give in a box of states."""

from collections.abc import Iterator
from fractions import Fraction

from diprl.program.ast import Affine, Terminal
from diprl.program.evaluate import vector
from diprl.program.signature import Continuous
from diprl.verify.cells import Margin, cells, no_margin, output_pieces
from diprl.verify.constraint import Constraint
from diprl.verify.context import Context, State, leaf_text, terminal_of
from diprl.verify.margins import float_note
from diprl.verify.never import uses
from diprl.verify.regions import regions_text
from diprl.verify.report import Answer
from diprl.verify.spec import Actions
from diprl.verify.witness import also_observed, first_confirmed, unconfirmed_answer, witness


def check_actions(context: Context, wanted: Actions) -> Answer:
    if isinstance(context.program.signature.actions, Continuous):
        return _check_outputs(context, wanted, context.program.signature.actions)
    program = context.program
    question = context.question(wanted.box)
    found = {leaf.number: leaf.terminal for leaf in cells(question, program.root)}
    possible = ", ".join(dict.fromkeys(leaf_text(program, terminal) for terminal in found.values()))
    regions = tuple(regions_text(context, wanted.box, list(found)))
    if wanted.only is None:
        return Answer("proved", f"the possible actions are exactly: {possible}", regions)
    state, unconfirmed = first_confirmed(
        _points_outside(context, wanted),
        wanted.box.clamp,
        also_observed(context, lambda state: not _allowed(context, wanted, terminal_of(program, state))),
    )
    if state is not None:
        return Answer("refuted", f"the possible actions are: {possible}", (), witness(context, state=state))
    if unconfirmed is not None:
        return unconfirmed_answer(unconfirmed)
    note = float_note(
        program, wanted.box, lambda margin: not any(True for _ in _points_outside(context, wanted, margin))
    )
    return Answer("proved", f"the possible actions are exactly: {possible}", (*regions, note))


def _points_outside(context: Context, wanted: Actions, margin: Margin = no_margin) -> Iterator[tuple[Fraction, ...]]:
    """A state in each cell whose action is not among the wanted ones."""
    question = context.question(wanted.box)
    for leaf in cells(question, context.program.root, margin=margin):
        if not _allowed(context, wanted, leaf.terminal):
            yield question.point()


def _allowed(context: Context, wanted: Actions, terminal: Terminal) -> bool:
    """Whether a terminal uses wanted actions or primitives only."""
    actions = range(len(context.program.signature.actions.names))
    return all(action in (wanted.only or ()) for action in actions if uses(terminal, action))


def _check_outputs(context: Context, wanted: Actions, actions: Continuous) -> Answer:
    ranges = [_output_range(context, wanted, output, actions) for output in range(len(actions.names))]
    lines = tuple(
        f"{name} lies in [{_text(low)}, {_text(high)}], exactly"
        for name, (low, high) in zip(actions.names, ranges, strict=True)
    )
    for output, low, high in wanted.outputs:
        state, unconfirmed = first_confirmed(
            _points_beyond(context, wanted, output, actions, low, high),
            wanted.box.clamp,
            also_observed(context, lambda state, o=output, a=low, b=high: not a <= _output(context, state, o) <= b),
        )
        if state is not None:
            sentence = f"{actions.names[output]} leaves [{low:g}, {high:g}]"
            return Answer("refuted", sentence, lines, witness(context, state=state))
        if unconfirmed is not None:
            return unconfirmed_answer(unconfirmed)
    return Answer("proved", "the range of every output is known", lines)


def _output(context: Context, state: State, output: int) -> float:
    actions, leaf = context.program.signature.actions, terminal_of(context.program, state)
    assert isinstance(leaf, Affine)  # the caller has looked
    assert isinstance(actions, Continuous)
    return vector(leaf, state, actions.low, actions.high)[output]


def _output_range(
    context: Context, wanted: Actions, output: int, actions: Continuous
) -> tuple[Fraction | None, Fraction | None]:
    """The infimum and supremum of an output over the box; None where it is unbounded."""
    question = context.question(wanted.box)
    ends: list[list[Fraction | None]] = [[], []]
    for leaf in cells(question, context.program.root):
        for sign in (1, -1):
            for piece in output_pieces(leaf, output, actions, sign):
                question.push(*piece.given)
                if question.feasible():
                    least = question.least(piece.weights)
                    ends[sign < 0].append(None if least is None else least + piece.bias)
                question.pop()
    low, negative_high = (None if None in side else min(value for value in side if value is not None) for side in ends)
    return low, None if negative_high is None else -negative_high


def _points_beyond(
    context: Context, wanted: Actions, output: int, actions: Continuous, low: float, high: float
) -> Iterator[tuple[Fraction, ...]]:
    """A state in each cell where an output is outside of its wanted range."""
    question = context.question(wanted.box)
    for leaf in cells(question, context.program.root):
        for sign, limit in ((1, high), (-1, -low)):
            if abs(limit) == float("inf"):
                continue
            for piece in output_pieces(leaf, output, actions, sign):
                beyond = Constraint(piece.weights, piece.bias - Fraction(limit), strict=True)
                question.push(*piece.given, beyond)
                if question.feasible():
                    yield question.point()
                question.pop()


def _text(value: Fraction | None) -> str:
    return "unbounded" if value is None else f"{float(value):.9g}"

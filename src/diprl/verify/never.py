"""Is some action never taken where certain conditions hold?"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from diprl.program.ast import Act, Affine, Blend, Terminal
from diprl.program.evaluate import vector
from diprl.program.signature import Continuous
from diprl.verify.cells import Leaf, Margin, cells, no_margin, output_pieces
from diprl.verify.constraint import Constraint
from diprl.verify.context import Context, State, terminal_of
from diprl.verify.margins import float_note
from diprl.verify.report import Answer
from diprl.verify.spec import Never
from diprl.verify.witness import also_observed, first_confirmed, unconfirmed_answer, witness


def check_never(context: Context, wanted: Never) -> Answer:
    def confirm(state: State) -> bool:
        return _takes(context, wanted, state)

    def stated(state: State) -> bool:
        """The conditions are about the state itself, whatever the environment shows of it."""
        return all(constraint.holds(state) for constraint in wanted.when) and observed(state)

    observed = also_observed(context, confirm)
    state, unconfirmed = first_confirmed(_points(context, wanted), wanted.box.clamp, stated)
    described = _described(context, wanted)
    if state is not None:
        return Answer("refuted", f"there are states with {described}", (), witness(context, state=state))
    if unconfirmed is not None:
        return unconfirmed_answer(unconfirmed)
    note = float_note(
        context.program, wanted.box, lambda margin: not any(True for _ in _points(context, wanted, margin))
    )
    return Answer("proved", f"no state of the box has {described}", (note,))


def _points(context: Context, wanted: Never, margin: Margin = no_margin) -> Iterator[tuple[Fraction, ...]]:
    """A state for each way in which the action can be taken."""
    question = context.question(wanted.box, *wanted.when)
    for leaf in cells(question, context.program.root, margin=margin):
        for given in _ways(context, wanted, leaf):
            question.push(*given)
            if question.feasible():
                yield question.point()
            question.pop()


def _ways(context: Context, wanted: Never, leaf: Leaf) -> Iterator[tuple[Constraint, ...]]:
    """Under what further conditions a leaf takes the action."""
    actions = context.program.signature.actions
    if not isinstance(wanted.action, Constraint):
        if uses(leaf.terminal, wanted.action):
            yield ()
        return
    assert isinstance(actions, Continuous)  # inequalities over outputs are read for them only
    outputs = (output_pieces(leaf, output, actions) for output in range(len(actions.names)))
    for pieces in product(*outputs):
        weights = tuple(
            sum((w * v for w, v in zip(wanted.action.weights, column, strict=True)), Fraction(0))
            for column in zip(*(piece.weights for piece in pieces), strict=True)
        )
        bias = wanted.action.value([piece.bias for piece in pieces])
        given = [constraint for piece in pieces for constraint in piece.given]
        yield (*given, Constraint(weights, bias, wanted.action.strict))


def uses(terminal: Terminal, action: int) -> bool:
    """Whether a terminal is a discrete action, or blends a primitive in."""
    if isinstance(terminal, Blend):
        return terminal.weights[action] > 0.0
    return isinstance(terminal, Act) and terminal.action == action


def _takes(context: Context, wanted: Never, state: State) -> bool:
    """Whether the interpreter takes the action at a state."""
    leaf, actions = terminal_of(context.program, state), context.program.signature.actions
    if isinstance(wanted.action, Constraint):
        assert isinstance(leaf, Affine)  # as in `_ways`
        assert isinstance(actions, Continuous)
        return wanted.action.holds(vector(leaf, state, actions.low, actions.high))
    return uses(leaf, wanted.action)


def _described(context: Context, wanted: Never) -> str:
    names = context.program.signature.actions.names
    action = wanted.action.text(names) if isinstance(wanted.action, Constraint) else names[wanted.action]
    when = " and ".join(constraint.text(context.names) for constraint in wanted.when)
    return f"{action}{f' where {when}' if when else ''}"

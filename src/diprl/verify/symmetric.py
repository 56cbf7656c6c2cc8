"""Does a program take the mirrored action at the mirrored state?"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from diprl.program.ast import Act, Affine, Blend, Terminal, conditions
from diprl.program.evaluate import vector
from diprl.program.signature import Continuous
from diprl.verify.cells import Place, cells, disagreements, placed
from diprl.verify.constraint import Weights, of_condition
from diprl.verify.context import Context, State, leaf_text, terminal_of
from diprl.verify.regions import READABLE, region, region_text
from diprl.verify.report import Answer, named_text
from diprl.verify.spec import Symmetric
from diprl.verify.witness import also_observed, first_confirmed, unconfirmed_answer, witness

_ASSUMED = (
    "states exactly on a threshold are left out, where the strict '>' favours one side",
    "the box is cut down to the states whose mirror image lies in it too",
)


def check_symmetric(context: Context, wanted: Symmetric) -> Answer:
    """Examined off the thresholds, which are where a symmetric program need not be symmetric."""

    def confirm(state: State) -> bool:
        image = mirrored(state, wanted)
        return wanted.box.contains(image) and breaks(context, wanted, state)

    def confirm_off_thresholds(state: State) -> bool:
        return not _on_threshold(context, wanted, state) and confirm(state)

    state, unconfirmed = first_confirmed(
        _points(context, wanted, thresholds=False),
        wanted.box.clamp,
        also_observed(context, confirm_off_thresholds),
    )
    if state is not None:
        shown = witness(context, state=state, mirrored_state=mirrored(state, wanted))
        return Answer("refuted", "the mirrored state gets another action", (), shown, _ASSUMED)
    if unconfirmed is not None:
        return unconfirmed_answer(unconfirmed)
    exception, _ = first_confirmed(_points(context, wanted, thresholds=True), wanted.box.clamp, confirm)
    note = (
        f"on the thresholds themselves there are exceptions, such as {named_text(context.named(exception))}"
        if exception
        else "no exception on the thresholds either"
    )
    summary = "every mirrored state off the thresholds gets the mirrored action"
    return Answer("proved", summary, (*_regions(context, wanted), note), None, _ASSUMED)


def mirrored(state: State, wanted: Symmetric) -> State:
    return tuple(-value if index in wanted.negate else value for index, value in enumerate(state))


def _mirror(wanted: Symmetric) -> Place:
    """Evaluates at the mirrored state."""

    def place(weights: Weights) -> Weights:
        return tuple(-weight if index in wanted.negate else weight for index, weight in enumerate(weights))

    return place


def _points(context: Context, wanted: Symmetric, thresholds: bool) -> Iterator[tuple[Fraction, ...]]:
    """A state for each pair of branches that do not mirror each other."""
    place = _mirror(wanted)
    images = [placed(constraint, place) for constraint in wanted.box.constraints()]
    question = context.question(wanted.box, *images)
    root = context.program.root
    for first in cells(question, root, thresholds=thresholds):
        image = replace(first, terminal=_image(first.terminal, wanted))
        for second in cells(question, root, place, thresholds=thresholds):
            for more in disagreements(image, second, context.program.signature, sign=-1):
                question.push(*more)
                if question.feasible():
                    yield question.point()
                question.pop()


def _image(terminal: Terminal, wanted: Symmetric) -> Terminal:
    """The mirror image of an action; outputs are compared with their signs changed instead."""
    if isinstance(terminal, Act):
        return Act(wanted.mirror[terminal.action])
    if isinstance(terminal, Blend):
        weights = [0.0] * len(terminal.weights)
        for source, image in enumerate(wanted.mirror):
            weights[image] = terminal.weights[source]
        return Blend(tuple(weights))
    return terminal


def breaks(context: Context, wanted: Symmetric, state: State) -> bool:
    """Whether the interpreter's action at the mirrored state is not the mirrored action."""
    image = mirrored(state, wanted)
    first, second = terminal_of(context.program, state), terminal_of(context.program, image)
    actions = context.program.signature.actions
    if isinstance(actions, Continuous) and isinstance(first, Affine) and isinstance(second, Affine):
        ours, theirs = (
            vector(leaf, place, actions.low, actions.high) for leaf, place in ((first, state), (second, image))
        )
        return any(a != -b for a, b in zip(ours, theirs, strict=True))
    return _image(first, wanted) != second


def _on_threshold(context: Context, wanted: Symmetric, state: State) -> bool:
    """Whether some condition is exactly zero at the state or at its image."""
    rows = [of_condition(condition) for condition in conditions(context.program.root)]
    return any(row.value(place) == 0 for row in rows for place in (state, mirrored(state, wanted)))


def _regions(context: Context, wanted: Symmetric) -> Iterator[str]:
    """Each branch's region beside its mirror image."""
    place = _mirror(wanted)
    leaves = list(cells(context.question(wanted.box), context.program.root, thresholds=False))
    if len(leaves) > READABLE:
        yield f"{len(leaves)} branches act in the box"
        return
    for leaf in leaves:
        where = region(context, wanted.box, leaf.number)
        image = [placed(constraint, place) for constraint in where]
        action = leaf_text(context.program, leaf.terminal)
        mirror = leaf_text(context.program, _image(leaf.terminal, wanted))
        negated = "the negative of " if isinstance(leaf.terminal, Affine) else ""
        yield (f"{action} {region_text(context, where)}; mirrored: {negated}{mirror} {region_text(context, image)}")

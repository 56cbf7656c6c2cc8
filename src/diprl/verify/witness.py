"""Turns a point of real arithmetic into states of 64-bit floats that the interpreter and the environment confirm."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from diprl.verify.context import Context, State, leaf_text, observed, terminal_of, trajectory
from diprl.verify.report import Answer, Witness

Confirm = Callable[[State], bool]

_DIGITS = (2, 3, 4, 6, 9, 12)
_LARGEST = 1.7e308


def settle(point: Sequence[Fraction], repair: Callable[[Sequence[float]], State], confirm: Confirm) -> State | None:
    """The nearby point with the fewest digits that is confirmed; `repair` puts it back into its box."""
    values = [_float(value) for value in point]
    for digits in _DIGITS:
        candidate = repair([_rounded(value, digits) for value in values])
        if confirm(candidate):
            return candidate
    candidate = repair(values)
    return candidate if confirm(candidate) else None


def first_confirmed(
    points: Iterable[Sequence[Fraction]], repair: Callable[[Sequence[float]], State], confirm: Confirm
) -> tuple[State | None, Sequence[Fraction] | None]:
    """The first point that can be confirmed, or else one that cannot."""
    unconfirmed = None
    for point in points:
        state = settle(point, repair, confirm)
        if state is not None:
            return state, None
        unconfirmed = unconfirmed or point
    return None, unconfirmed


def also_observed(context: Context, confirm: Confirm) -> Confirm:
    """The same as the environment shows it, where the task has a model."""
    if context.model is None:
        return confirm
    return lambda state: confirm(state) and confirm(observed(state))


def unconfirmed_answer(point: Sequence[Fraction]) -> Answer:
    """A counterexample that only exists on paper refutes nothing."""
    values = ", ".join(f"{_float(value)!r}" for value in point)
    return Answer(
        "unknown",
        "real arithmetic has a counterexample, but rounded to floats it does not reproduce in the interpreter",
        (f"the point, rounded: {values}",),
    )


def replays(context: Context, state: State, label: str = "") -> list[str]:
    """What the program does at a state: in the interpreter and, where there is a model, in the environment."""
    program, model = context.program, context.model
    where = f" at the {label}" if label else ""
    action = leaf_text(program, terminal_of(program, state))
    sentences = [f"the interpreter gives '{action}'{where}"]
    if model is not None and model.going_on.contains(state) and model.reached.contains(state):
        after = trajectory(model, program, state, 1)[-1]
        shown = leaf_text(program, terminal_of(program, observed(state)))
        follows = ", ".join(f"{value:.6g}" for value in after)
        sentences.append(f"{model.environment}{where}: the program gives '{shown}', next state ({follows})")
    return sentences


def witness(context: Context, **states: State) -> Witness:
    """States by their labels, each replayed."""
    labels = {label.replace("_", " "): state for label, state in states.items()}
    several = len(labels) > 1
    sentences = [
        sentence for label, state in labels.items() for sentence in replays(context, state, label if several else "")
    ]
    named = tuple((label, context.named(state)) for label, state in labels.items())
    return Witness(named, tuple(sentences))


def _rounded(value: float, digits: int) -> float:
    """The value to so many significant digits, still finite."""
    return min(max(float(f"{value:.{digits - 1}e}"), -_LARGEST), _LARGEST)


def _float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return _LARGEST if value > 0 else -_LARGEST

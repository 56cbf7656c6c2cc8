"""Does the closed loop of a program and its task's dynamics stay where it should?"""

from collections.abc import Sequence
from dataclasses import dataclass

from diprl.verify.constraint import Box, Constraint
from diprl.verify.context import Context, State, trajectory
from diprl.verify.falsify import find_violation, visited_ranges
from diprl.verify.flow import extrapolated, flow, hull, kept_forever, satisfies
from diprl.verify.models import MODELS
from diprl.verify.polytope import Polytope
from diprl.verify.question import Undecided
from diprl.verify.reach import Loop
from diprl.verify.report import Answer, Witness, named_text
from diprl.verify.spec import Safe
from diprl.verify.start import Array, directions_for, polytope_of, split

_MOST_SETS = (1, 8, 32)
"""How many polytopes may enclose the states of one step, tried in turn: more are tighter and take longer."""
_SIMULATED_STEPS = 100
"""Steps that are simulated to learn in which units the state's coordinates are comparable."""
_COVERED = "covered too: observations rounded to float32, float64 rounding of conditions and dynamics"
_INVARIANT_AFTER = (4, 8, 16, 32)
"""After how many steps a set that is never left is looked for."""


@dataclass(frozen=True)
class Progress:
    """How far the enclosures of one attempt satisfied what is wanted."""

    steps: int
    forever: bool
    widest: Polytope
    """Around everything enclosed so far."""
    stopped: str = ""
    """Why it did not get further."""


def check_safe(context: Context, wanted: Safe) -> Answer:
    model = context.model
    if model is None:
        known = " and ".join(f"{name} ({', '.join(model.coordinates)})" for name, model in MODELS.items())
        sentence = "closed loops need dynamics, which are given for programs that read the plain state of"
        return Answer("unknown", f"{sentence} {known}: is 'task:' set?")
    start = find_violation(context.program, model, wanted.box, wanted.always, wanted.steps)
    if start is not None:
        return _replayed(context, wanted, start)
    loop = Loop(context.program.root, model, context.deadline.remaining)
    steps = min(wanted.steps, _SIMULATED_STEPS)
    scales = visited_ranges(context.program, model, wanted.box, steps)
    best: Progress | None = None
    for most in _MOST_SETS:
        progress = _attempt(loop, wanted, scales, most)
        best = progress if best is None or progress.steps > best.steps else best
        if progress.forever or progress.steps == wanted.steps:
            return _proved(context, wanted, progress)
        if progress.stopped:
            break
    assert best is not None  # at least one attempt was made
    return _unknown(context, wanted, best)


def _attempt(loop: Loop, wanted: Safe, scales: Array, most: int) -> Progress:
    """Enclose step after step until something wanted is not certain any more."""
    directions = directions_for(loop.root, wanted.always, scales)
    start = [polytope_of(part, directions) for part in split(wanted.box, scales, most)]
    widest, done, hulls = hull(start), -1, []
    try:
        for step, sets in enumerate(flow(loop, start, most)):
            if not sets:
                return Progress(step, True, widest)
            hulls = [*hulls[-2:], hull(sets)]
            widest = hull([widest, *sets])
            if not all(satisfies(polytope, wanted.always) for polytope in sets):
                break
            done = step
            if step == wanted.steps:
                break
            if most == 1 and step in _INVARIANT_AFTER:
                forever = kept_forever(loop, widest, extrapolated(hulls), wanted.always)
                if forever is not None:
                    return Progress(step, True, forever)
    except Undecided as reason:
        return Progress(done, False, widest, str(reason))
    return Progress(done, False, widest)


def _proved(context: Context, wanted: Safe, progress: Progress) -> Answer:
    wanted_text = _conditions(context, wanted.always)
    if progress.forever:
        found = f"no step leaves {_bounds(context, progress.widest)}, where all starts lie"
        summary = f"{wanted_text} at every step of every episode, not only the first {wanted.steps}"
        return Answer("proved", summary, (found, _COVERED), None, _assumptions(context, wanted))
    reached = f"all states of these steps lie within {_bounds(context, progress.widest)}"
    summary = f"{wanted_text} at each of the first {wanted.steps} steps"
    return Answer("proved", summary, (reached, _COVERED), None, _assumptions(context, wanted))


def _unknown(context: Context, wanted: Safe, progress: Progress) -> Answer:
    shown = f"proved for the first {progress.steps} steps only" if progress.steps >= 0 else "nothing is proved"
    why = progress.stopped or "after that the enclosure of the states is too wide to tell"
    reached = f"the enclosures so far lie within {_bounds(context, progress.widest)}"
    tried = "no violation among thousands of simulated starts"
    return Answer("unknown", f"{shown}: {why}", (reached, tried), None, _assumptions(context, wanted))


def _replayed(context: Context, wanted: Safe, start: State) -> Answer:
    """A start that went wrong in simulation counts once it goes wrong in the environment."""
    assert context.model is not None  # the caller has looked
    states = trajectory(context.model, context.program, start, wanted.steps)
    for step, state in enumerate(states):
        broken = [constraint for constraint in wanted.always if not constraint.holds(state)]
        if broken:
            sentence = f"{broken[0].text(context.names)} is false after {step} steps"
            replay = f"{context.model.environment} after {step} steps: {named_text(context.named(state))}"
            shown = Witness((("start", context.named(start)),), (replay,))
            return Answer("refuted", sentence, (), shown)
    sentence = "a simulated start goes wrong, but it does not when replayed in the environment"
    return Answer("unknown", sentence, (f"start: {named_text(context.named(start))}",))


def _assumptions(context: Context, wanted: Safe) -> tuple[str, ...]:
    assert context.model is not None  # the caller has looked
    return (
        f"starts: {wanted.box.text(context.names)}",
        f"the dynamics of {context.model.environment}, with its features in the order "
        f"{', '.join(context.model.coordinates)}; steps after an episode's end do not count",
        "sin and cos of the C library are right to 15 digits",
    )


def _conditions(context: Context, constraints: Sequence[Constraint]) -> str:
    return " and ".join(constraint.text(context.names) for constraint in constraints)


def _bounds(context: Context, polytope: Polytope) -> str:
    box = Box(tuple(polytope.low.tolist()), tuple(polytope.high.tolist()))
    return box.text(context.names)

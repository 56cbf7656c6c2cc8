"""One attempt to prove that a closed loop stays where it should, for some steps or for ever."""

from collections.abc import Sequence
from dataclasses import dataclass

from diprl.verify.closed_loop.flow import extrapolated, flow, hull, kept_forever, satisfies
from diprl.verify.closed_loop.reach import Loop
from diprl.verify.closed_loop.start import start_sets
from diprl.verify.exact.linear import Box, Constraint
from diprl.verify.exact.polytope import Array, Polytope
from diprl.verify.exact.question import Undecided

MOST_SETS = (1, 8, 32)
"""How many polytopes may enclose the states of one step, tried in turn: more are tighter and take longer."""
_INVARIANT_AFTER = (4, 8, 16, 32)
"""After how many steps a set that is never left is looked for."""


@dataclass(frozen=True)
class Attempt:
    """How far the enclosures satisfied what is wanted."""

    steps: int
    """The last step that is proved; −1 where not even the start is."""
    forever: bool = False
    widest: Polytope | None = None
    """Around everything enclosed so far."""
    stopped: str = ""
    """Why it did not get further, other than that an enclosure is too wide."""


def best_attempt(loop: Loop, box: Box, always: Sequence[Constraint], steps: int, scales: Array) -> Attempt:
    """Try ever more and smaller sets until all steps are proved or the time is up."""
    best = Attempt(-1)
    for most in MOST_SETS:
        attempt = _attempt(loop, box, always, steps, scales, most)
        if attempt.forever or attempt.steps > best.steps or best.widest is None:
            best = attempt
        if best.forever or best.steps == steps or attempt.stopped:
            break
    return best


def _attempt(loop: Loop, box: Box, always: Sequence[Constraint], steps: int, scales: Array, most: int) -> Attempt:
    """Enclose step after step until something wanted is not certain any more."""
    done, widest, hulls = -1, None, []
    try:
        start = start_sets(loop, box, always, scales, most)
        for step, sets in enumerate(flow(loop, start, most)):
            if not sets:
                return Attempt(step, True, widest)
            hulls = [*hulls[-2:], hull(sets)]
            widest = hull(sets if widest is None else [widest, *sets])
            if not all(satisfies(polytope, always) for polytope in sets):
                break
            done = step
            if step == steps:
                break
            if most == 1 and step in _INVARIANT_AFTER:
                forever = kept_forever(loop, widest, extrapolated(hulls), always)
                if forever is not None:
                    return Attempt(step, True, forever)
    except Undecided as reason:
        return Attempt(done, False, widest, str(reason))
    return Attempt(done, False, widest)

"""Simplify: as few conditions, numbers and digits as the score allows, from a program that exists."""

from collections.abc import Callable
from dataclasses import dataclass

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.search.front import Front, Limits
from diprl.search.shrink import Show, Tune, shrink
from diprl.search.trials import Trials, never
from diprl.tasks.base import Task

STEPS_ON_TWIN, STEPS = 60_000_000, 6_000_000
"""Environment steps to spend at most, where they cost nanoseconds and where they cost microseconds."""
SECONDS_ON_TWIN, SECONDS = 40.0, 320.0


@dataclass(frozen=True)
class Simplified:
    """The smallest program that keeps the score, and those of other sizes."""

    program: Program
    front: Front
    steps: int


def simplify(
    task: Task,
    program: Program,
    tolerance: float = 0.01,
    *,
    steps: float | None = None,
    seconds: float | None = None,
    seed: int = 0,
    tune: Tune | None = None,
    interrupt: Callable[[], None] = lambda: None,
    enough: Callable[[], bool] = never,
    show: Show = lambda *_: None,
) -> Simplified:
    """A smaller program whose score stays within a fraction `tolerance` of the best found.

    Steps and seconds end it, whichever comes first; so does `enough`, and what was found by then counts. `interrupt`
    is called before each round and ends everything by raising. `tune` replaces the search over numbers by another.
    """
    if not 0 <= tolerance < 1:
        raise DiprlError(f"tolerance must lie between 0 and 1, not {tolerance}")
    most_steps, most_seconds = (STEPS_ON_TWIN, SECONDS_ON_TWIN) if task.twin else (STEPS, SECONDS)
    trials = Trials(task, program, steps or most_steps, seconds or most_seconds, interrupt, enough)
    front = shrink(trials, program, Limits(tolerance=tolerance), seed=seed, tune=tune, show=show)
    return Simplified(front.program, front, trials.steps)

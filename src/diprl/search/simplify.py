"""Simplify: a smaller program with nearly the same score, with more steps than a training spends on it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.search.climb import best_of
from diprl.search.front import Front, Limits
from diprl.search.shrink import THOROUGH, Show, Tune, shrink
from diprl.search.trials import Spent, Trials, never
from diprl.tasks.base import Task

STEPS_ON_TWIN, STEPS = 150_000_000, 15_000_000
"""Environment steps at most, where they cost nanoseconds and where they cost microseconds."""
SECONDS_ON_TWIN, SECONDS = 54.0, 340.0
BEGINNING, BEGINNING_ON_TWIN = 200, 2000
"""Episodes that choose the program to begin with."""
TRAININGS = 2
"""How often that one is trained on, on a twin, while half of the time is left; elsewhere the way down trains."""


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
    others: Sequence[Program] = (),
    steps: float | None = None,
    seconds: float | None = None,
    seed: int = 0,
    train: Tune | None = None,
    interrupt: Callable[[], None] = lambda: None,
    enough: Callable[[], bool] = never,
    show: Show = lambda *_: None,
) -> Simplified:
    """A smaller program whose score stays within a fraction `tolerance` of the best found.

    `others` are programs of the same run: the search begins with the best of all, which may be larger. Steps and
    seconds end it, whichever comes first; so does `enough`, and what was found by then counts. `interrupt` is called
    before each round and ends everything by raising. `train` finds better numbers by training on.
    """
    if not 0 <= tolerance < 1:
        raise DiprlError(f"tolerance must lie between 0 and 1, not {tolerance}")
    most_steps, most_seconds = (STEPS_ON_TWIN, SECONDS_ON_TWIN) if task.twin else (STEPS, SECONDS)
    largest = max([program, *others], key=lambda each: each.conditions)
    allowed = seconds or most_seconds
    trials = Trials(task, largest, steps or most_steps, allowed, interrupt, enough)
    others = [program, *others] if others else ()
    with suppress(Spent):
        program = best_of(trials, others, BEGINNING_ON_TWIN if task.twin else BEGINNING) if others else program
        if train and task.twin and allowed >= SECONDS_ON_TWIN:  # less would leave no time for the search
            for _ in range(TRAININGS):
                if trials.passed < allowed / 2:
                    program = train(trials, program, trials.left)
                    show("train all numbers on", program)
    limits, tune = Limits(tolerance=tolerance), None if task.twin else train
    front = shrink(trials, program, limits, seed=seed, others=others, effort=THOROUGH, train=tune, show=show)
    return Simplified(front.program, front, trials.steps)

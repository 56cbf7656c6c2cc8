"""Polish: search over a discrete program on its true return, and keep only a real improvement.

Gradients bring a relaxed program to the right region; the last points are in the discrete program itself, whose return
has no gradient. Whatever comes out replaces the program only if it wins a paired test on fresh episodes.
"""

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from time import monotonic
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diprl.arena.episodes import POLISH_ROUND
from diprl.arena.score import Trial
from diprl.program import Program
from diprl.search.climb import climb
from diprl.search.front import standard_error
from diprl.search.trials import Spent, Trials, never
from diprl.tasks.base import Task

CONFIDENCE = 2.33
"""Standard errors by which a polished program must win: one chance in a hundred of being fooled."""
BLOCK = 64
"""Episodes that the final comparison plays at a time."""
COMPARISON = 0.2
"""Part of the steps and of the time that is kept for the final comparison."""
NEARLY = 0.05
"""A climb that stays this part below the best is given up."""

Show = Callable[[Program, float], None]
"""Is told of a better program and of its mean return."""


class Polished(NamedTuple):
    """What polishing achieved."""

    program: Program
    trial: Trial
    seconds: float


class Effort(NamedTuple):
    """Episodes per candidate at first and at most, and those of the comparison."""

    episodes: int
    most_episodes: int
    comparison: int


def polish(
    task: Task,
    program: Program,
    steps: float = float("inf"),
    *,
    seconds: float = float("inf"),
    seed: int = 0,
    interrupt: Callable[[], None] = lambda: None,
    enough: Callable[[], bool] = never,
    show: Show = lambda *_: None,
) -> Polished:
    """The program with better numbers, or as it was if nothing wins a paired test on fresh episodes.

    Steps and seconds end the search, whichever comes first. So does `enough`, and what was found by then counts;
    `interrupt` is called before each round and ends everything by raising.
    """
    began = monotonic()
    effort = default_effort(task)
    trials = Trials(task, program, (1.0 - COMPARISON) * steps, (1.0 - COMPARISON) * seconds, interrupt, enough)
    found = Search(trials, program, effort, seed, show).run()
    trials.most_steps, trials.seconds, trials.enough = steps, seconds, never
    trial = compare_fairly(trials, program, found, effort.comparison)
    return Polished(found if trial.accepted else program, trial._replace(steps=trials.steps), monotonic() - began)


def default_effort(task: Task) -> Effort:
    """Many episodes where a step costs nanoseconds, few where it costs microseconds."""
    if task.twin is None:
        return Effort(4, 16, 100)
    return Effort(64, 256, 4096)


class Search:
    """Climbs from the best program there is, until the budget is spent."""

    def __init__(self, trials: Trials, program: Program, effort: Effort, seed: int, show: Show) -> None:
        self.trials, self.best, self.effort, self.seed, self.show = trials, program, effort, seed, show
        self.level = -np.inf
        """What a climb must come near."""

    def run(self) -> Program:
        """The best program found: climb from the start, then again and again from the best."""
        with suppress(Spent):
            views = self.trials.views(self.best)
            for attempt in count():
                if self.trials.spent():
                    break
                self.keep_better(self.climb(views, attempt))
        return self.best

    def climb(self, views: NDArray[np.float32], attempt: int) -> Program:
        effort = self.effort
        return climb(
            self.trials,
            self.best,
            views,
            steps=float("inf"),
            episodes=effort.episodes,
            most_episodes=effort.most_episodes,
            seed=self.seed + attempt,
            hopeless=self.level,
        )

    def keep_better(self, other: Program) -> None:
        """Go on with the better of two programs on fresh episodes."""
        try:
            first, second = self.trials.play([self.best, other], 4 * self.effort.most_episodes).mean(axis=1)
        except Spent:  # the comparison that follows the search decides
            self.best = other
            raise
        best = max(float(first), float(second))
        self.level = best - NEARLY * abs(best)
        if second > first:
            self.best = other
            self.show(other, best)


def compare_fairly(trials: Trials, old: Program, new: Program, episodes: int) -> Trial:
    """The new program against the old on episodes that no search has seen."""
    differences = np.zeros(0)
    with suppress(Spent):
        while new != old and len(differences) < episodes:
            before, after = trials.play([old, new], min(episodes, BLOCK), POLISH_ROUND)
            differences = np.append(differences, after - before)
    if len(differences) < min(episodes, BLOCK):  # a few episodes prove nothing, whatever their error
        return Trial(False, 0.0, 0.0, trials.steps)
    gain, error = float(differences.mean()), standard_error(differences)
    return Trial(gain > CONFIDENCE * error, gain, error, trials.steps)

"""Better numbers for a program of fixed shape: CMA-ES on its true return, all candidates on the same episodes."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.search.cma import CMA
from diprl.search.numbers import Coordinates
from diprl.search.trials import Trials

FIRST_STEP = 0.02
"""Spread of the first generation; conditions have unit length. Wider ones leave the hill that training climbed."""
WINDOW = 40
"""Generations that must be better than as many before them; if not, a climb looks closer or ends."""
CLOSER = 4
"""Factor on the episodes of a climb that looks closer."""


class Rise:
    """Whether a climb still rises: single generations are noisy, so windows of them are compared."""

    def __init__(self) -> None:
        self.levels: list[float] = []
        self.first_window = np.inf
        """Mean level of the first window, once it is complete."""

    def stalls(self, level: float) -> bool:
        """Whether the latest window, just completed by this level, is no better than the one before it."""
        self.levels.append(level)
        if len(self.levels) == WINDOW and self.first_window == np.inf:
            self.first_window = float(np.mean(self.levels))
        if len(self.levels) < 2 * WINDOW:
            return False
        earlier, self.levels = self.levels[:WINDOW], self.levels[WINDOW:]
        if np.mean(self.levels) > np.mean(earlier):
            return False
        self.levels = []
        return True


def climb(
    trials: Trials,
    program: Program,
    views: NDArray[np.floating],
    *,
    steps: float,
    episodes: int,
    most_episodes: int,
    seed: int,
    hopeless: float = -np.inf,
) -> Program:
    """The program with numbers that earn more, found in about so many steps.

    Ends where it no longer rises with the most episodes, or still lies below `hopeless` after a while.
    """
    space = Coordinates(program, views)
    start = space.vector()
    if not len(start):
        return program
    cma = CMA(start, FIRST_STEP, population(len(start)), seed)
    rise, limit = Rise(), trials.steps + steps
    while not trials.spent() and trials.steps + trials.last < limit:
        candidates = cma.ask()
        fitness = trials.play([space.program_at(vector) for vector in candidates], episodes).mean(axis=1)
        cma.tell(candidates, fitness)
        stalled = rise.stalls(float(np.median(fitness)))
        if rise.first_window < hopeless or (stalled and episodes >= most_episodes):
            break
        if stalled:
            episodes *= CLOSER
    return space.program_at(cma.mean)


def population(size: int) -> int:
    """Candidates of a generation, as Hansen's tutorial recommends for so many numbers."""
    return 4 + int(3 * np.log(size)) if size else 0


def best_of(trials: Trials, programs: Sequence[Program], episodes: int) -> Program:
    """The program that earns most on fresh episodes; the first of equals."""
    return programs[int(np.argmax(trials.play(programs, episodes).mean(axis=1)))]

"""Climbing the true return of a program: CMA-ES on its numbers, then mutations of its branches, and again."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diprl.arena.programs import ProgramPlayer
from diprl.program import Program
from diprl.search.cma import CMA
from diprl.search.mutate import Variations
from diprl.search.numbers import Coordinates, Point

FIRST_STEP = 0.02
"""Spread of the first generation; conditions have unit length. Wider ones leave the hill that training climbed."""
NEARLY = 1.05
"""How near: within five percent."""
SCREENING = 8
"""Episodes on which mutations are compared."""
WINDOW = 40
"""Generations that must be better than as many before them; if not, a climb looks closer or ends."""


@dataclass(frozen=True)
class Effort:
    """How much each part of the search costs."""

    population: int
    episodes: int
    """Episodes per candidate at first; four times as many when progress stalls."""
    most_episodes: int
    mutants: int
    """Mutations tried between climbs; 0 where a shape cannot mutate or steps are dear."""
    final_episodes: int


class Climb:
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


class Search:
    """Hill climbing with two kinds of move, until the budget is spent."""

    def __init__(
        self,
        space: Coordinates,
        player: ProgramPlayer,
        effort: Effort,
        most_steps: float,
        seconds: float,
        seed: int,
        enough: Callable[[], bool] = lambda: False,
    ) -> None:
        self.space, self.player, self.effort, self.seed, self.enough = space, player, effort, seed, enough
        self.most_steps, self.end = most_steps, time.monotonic() + seconds
        self.steps, self.last, self.rounds = 0, 0, 0
        self.level = -np.inf
        """What a climb should come near."""

    def run(self) -> Program:
        """The best program found: climb from the start, then again, from mutations and from random chains by turns."""
        start, attempt = self.space.point(), 0
        best = self.better(start, self.climb(start, hopeless=-np.inf))
        while not self.spent():
            best = self.better(best, self.climb(self.elsewhere(best, attempt), hopeless=self.level))
            attempt += 1
        return self.space.program_at(best)

    def climb(self, start: Point, hopeless: float) -> Point:
        """CMA-ES from a point until it no longer rises, or still lies below `hopeless` after a while."""
        cma = CMA(start.numbers, FIRST_STEP, self.effort.population, self.seed + self.rounds)
        episodes, climb = self.effort.episodes, Climb()
        while not self.spent():
            candidates = cma.ask()
            points = [replace(start, numbers=numbers) for numbers in candidates]
            fitness = self.play(points, episodes).mean(axis=1)
            cma.tell(candidates, fitness)
            stalled = climb.stalls(float(np.median(fitness)))
            if climb.first_window < hopeless or (stalled and episodes >= self.effort.most_episodes):
                break
            if stalled:
                episodes *= 4
        return replace(start, numbers=cma.mean)

    def elsewhere(self, best: Point, attempt: int) -> Point:
        """Where to climb next: the best point again, or the most promising of many variations."""
        if not self.effort.mutants or attempt % 3 == 0:
            return best
        choices = len(self.space.program.signature.actions.names)
        variations = Variations(self.space.states, choices, self.seed + attempt)
        vary = variations.mutants if attempt % 3 == 1 else variations.random_chains
        tried = vary(best, self.effort.mutants)
        fitness = self.play(tried, SCREENING).mean(axis=1)
        return tried[int(np.argmax(fitness))]

    def better(self, one: Point, other: Point) -> Point:
        """The better of two points on fresh episodes."""
        first, second = self.play([one, other], 4 * self.effort.most_episodes).mean(axis=1)
        self.level = NEARLY * max(first, second) if first < 0 else max(first, second) / NEARLY
        return other if second > first else one

    def play(self, points: Sequence[Point], episodes: int) -> NDArray[np.float64]:
        self.rounds += 1
        programs = [self.space.program_at(point) for point in points]
        returns = self.player(programs, episodes, self.rounds)
        self.steps, self.last = self.steps + returns.steps, returns.steps
        return returns.values

    def spent(self) -> bool:
        """Whether another round like the last one would go over the budget, or somebody has had enough."""
        return self.enough() or self.steps + self.last >= self.most_steps or time.monotonic() >= self.end

"""Climbing the true return of a program: CMA-ES on its numbers, then mutations of its branches, and again."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diprl.improve.cma import CMA
from diprl.improve.fitness import Fitness
from diprl.improve.mutate import mutants, strangers
from diprl.improve.numbers import Point
from diprl.program import Program

FIRST_STEP = 0.1
"""Spread of the first generation; conditions have unit length."""
PATIENCE = 8
"""Generations without progress after which a climb looks closer or ends."""


@dataclass(frozen=True)
class Budget:
    """When to stop: whichever comes first."""

    steps: float = float("inf")
    seconds: float = float("inf")


@dataclass(frozen=True)
class Effort:
    """How much each part of the search costs."""

    population: int
    episodes: int
    """Episodes per candidate at first; they double when progress stalls."""
    most_episodes: int
    mutants: int
    """Mutations tried between climbs; 0 where a shape cannot mutate or steps are dear."""
    final_episodes: int


@dataclass(frozen=True)
class Terrain:
    """What the search knows of the task: how to play, and the standardised states that a program visits."""

    fitness: Fitness
    build: Callable[[Point], Program]
    states: NDArray[np.float64]
    choices: int
    """How many actions there are."""


class Search:
    """Hill climbing with two kinds of move, until the budget is spent."""

    def __init__(self, terrain: Terrain, effort: Effort, budget: Budget, seed: int) -> None:
        self.terrain, self.effort, self.budget, self.seed = terrain, effort, budget, seed
        self.began, self.steps, self.rounds = time.monotonic(), 0, 0

    def run(self, start: Point) -> Point:
        """The best point found."""
        best, attempt = start, 0
        while not self.spent():
            origin = self.elsewhere(best, attempt) if self.effort.mutants else best
            episodes = min(self.effort.episodes * (4 if attempt else 1), self.effort.most_episodes)
            best = self.better(best, self.climb(origin, episodes))
            attempt += 1
        return best

    def climb(self, start: Point, episodes: int) -> Point:
        """CMA-ES from a point until it no longer makes progress on the most episodes."""
        cma = CMA(start.numbers, FIRST_STEP, self.effort.population, self.seed + self.rounds)
        stale, top = 0, -np.inf
        while not self.spent():
            candidates = cma.ask()
            fitness = self.play([replace(start, numbers=numbers) for numbers in candidates], episodes).mean(
                axis=1
            )
            cma.tell(candidates, fitness)
            level = float(np.median(fitness))
            stale, top = (0, level) if level > top else (stale + 1, top)
            if stale < PATIENCE:
                continue
            if episodes >= self.effort.most_episodes:
                break
            episodes, stale, top = 4 * episodes, 0, -np.inf
        return replace(start, numbers=cma.mean)

    def elsewhere(self, best: Point, attempt: int) -> Point:
        """Where to climb next: by turns the most promising mutation and the most promising stranger.

        The first time the point itself is among them, so that a good start is climbed from as it is.
        """
        states, choices, count = self.terrain.states, self.terrain.choices, self.effort.mutants
        if attempt % 2 == 0:
            tried = mutants(best, states, leaf_shares(best, states), choices, count, self.seed + attempt)
        else:
            tried = strangers(best, states, choices, count, self.seed + attempt)
        if attempt == 0:
            tried = [best, *tried[1:]]
        fitness = self.play(tried, self.effort.episodes).mean(axis=1)
        return tried[int(np.argmax(fitness))]

    def better(self, one: Point, other: Point) -> Point:
        """The better of two points on fresh episodes."""
        first, second = self.play([one, other], 4 * self.effort.most_episodes).mean(axis=1)
        return other if second > first else one

    def play(self, points: Sequence[Point], episodes: int) -> NDArray[np.float64]:
        self.rounds += 1
        programs = [self.terrain.build(point) for point in points]
        returns = self.terrain.fitness(programs, episodes, self.rounds)
        self.steps += returns.steps
        return returns.values

    def spent(self) -> bool:
        return self.steps >= self.budget.steps or time.monotonic() - self.began >= self.budget.seconds


def leaf_shares(point: Point, states: NDArray[np.float64]) -> NDArray[np.float64]:
    """How often each leaf of a chain acts on these states."""
    rows = point.numbers.reshape(-1, states.shape[1] + 1)
    holds = states @ rows[:, :-1].T + rows[:, -1] > 0
    reached = np.where(holds.any(axis=1), holds.argmax(axis=1), len(rows))
    return np.bincount(reached, minlength=len(rows) + 1) / len(states)

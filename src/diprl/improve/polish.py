"""Polish: search over the numbers of a discrete program on its true return, and keep only a real improvement.

Gradients bring a relaxed program to the right region; the last points are in the discrete program itself, whose return
has no gradient. CMA-ES climbs it from the learnt numbers: all candidates of a generation play the same episodes, and the
episodes per candidate double as differences shrink. Whatever comes out replaces the program only if it wins a paired
test on fresh episodes.
"""

import time
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from diprl.improve.cma import CMA
from diprl.improve.fitness import Fitness, make_fitness
from diprl.improve.numbers import from_vector, measure_moments, to_vector
from diprl.improve.visits import visited_views
from diprl.program import Program
from diprl.tasks.base import Task

FIRST_STEP = 0.15
"""Spread of the first generation; conditions have unit length."""
CONFIDENCE = 2.33
"""Standard errors by which a polished program must win: one chance in a hundred of being fooled."""


@dataclass(frozen=True)
class Budget:
    """When to stop: whichever comes first."""

    steps: float = float("inf")
    seconds: float = float("inf")


@dataclass(frozen=True)
class Effort:
    """How much a generation costs."""

    population: int
    episodes: int
    most_episodes: int
    final_episodes: int


@dataclass(frozen=True)
class Polished:
    """What polishing achieved."""

    program: Program
    accepted: bool
    """Whether the search won the final comparison; if not, `program` is the one it started from."""
    gain: float
    """Mean difference on the fresh episodes of the final comparison."""
    error: float
    """Its standard error."""
    steps: int
    seconds: float
    generations: int


def polish(
    task: Task, program: Program, budget: Budget, *, seed: int = 0, effort: Effort | None = None
) -> Polished:
    """The program with better numbers, or as it was."""
    began = time.monotonic()
    views = visited_views(task, program)
    moments = measure_moments(views[:, : task.layout.features])
    start = to_vector(program, moments)
    if not len(start):
        return Polished(program, False, 0.0, 0.0, len(views), time.monotonic() - began, 0)
    fitness = make_fitness(task, program, moments)
    search = Search(fitness, start, effort or default_effort(task, len(start)), seed, began)
    best = search.run(Budget(budget.steps - len(views), budget.seconds))
    gain, error, steps = compare_fairly(fitness, start, best, search.effort.final_episodes)
    accepted = gain > CONFIDENCE * error
    return Polished(
        program=from_vector(program, best, moments) if accepted else program,
        accepted=accepted,
        gain=gain,
        error=error,
        steps=search.steps + steps + len(views),
        seconds=time.monotonic() - began,
        generations=search.generation,
    )


def default_effort(task: Task, size: int) -> Effort:
    """Large generations where a step costs nanoseconds, small ones where it costs microseconds."""
    population = 4 + int(3 * log(size))
    if task.twin is None:
        return Effort(population, 4, 16, 200)
    return Effort(max(population, 32), 16, 256, 4096)


class Search:
    """CMA-ES with restarts: each one starts at the best point so far, wider and with a larger population."""

    def __init__(
        self, fitness: Fitness, start: NDArray[np.float64], effort: Effort, seed: int, began: float
    ) -> None:
        self.fitness, self.start, self.effort, self.seed, self.began = fitness, start, effort, seed, began
        self.steps, self.generation = 0, 0

    def run(self, budget: Budget) -> NDArray[np.float64]:
        """The best point found within the budget, less what the final comparison needs."""
        best, restart = self.start, 0
        while not self.spent(budget):
            found = self.climb(best, restart, budget)
            best, restart = self.better(best, found), restart + 1
        return best

    def climb(self, start: NDArray[np.float64], restart: int, budget: Budget) -> NDArray[np.float64]:
        """One search until it has converged."""
        population = self.effort.population * 2 ** min(restart, 3)
        cma = CMA(start, FIRST_STEP, population, self.seed + 1000 * restart)
        episodes, stale, top = self.effort.episodes, 0, -np.inf
        while not self.spent(budget) and cma.step > 1e-3:
            candidates = cma.ask()
            returns = self.play(candidates, episodes)
            cma.tell(candidates, returns.mean(axis=1))
            level = float(np.median(returns.mean(axis=1)))
            stale, top = (0, level) if level > top else (stale + 1, top)
            if stale >= 10 and episodes >= self.effort.most_episodes:
                break
            if stale >= 10:
                episodes, stale = 2 * episodes, 0
        return cma.mean

    def better(self, one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
        """The better of two points on fresh episodes."""
        first, second = self.play(np.stack([one, other]), self.effort.most_episodes * 4).mean(axis=1)
        return other if second > first else one

    def play(self, candidates: NDArray[np.float64], episodes: int) -> NDArray[np.float64]:
        self.generation += 1
        returns = self.fitness(candidates, episodes, self.generation)
        self.steps += returns.steps
        return returns.values

    def spent(self, budget: Budget) -> bool:
        return self.steps >= budget.steps or time.monotonic() - self.began >= budget.seconds


def compare_fairly(
    fitness: Fitness, old: NDArray[np.float64], new: NDArray[np.float64], episodes: int
) -> tuple[float, float, int]:
    """Mean paired difference (new − old) on episodes that no search has seen, its standard error, and the steps."""
    returns = fitness(np.stack([old, new]), episodes, round_number=999_983)
    difference = returns.values[1] - returns.values[0]
    return float(difference.mean()), float(difference.std(ddof=1) / len(difference) ** 0.5), returns.steps

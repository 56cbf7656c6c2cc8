"""Polish: search over a discrete program on its true return, and keep only a real improvement.

Gradients bring a relaxed program to the right region; the last points are in the discrete program itself, whose return
has no gradient. All candidates of a generation play the same episodes, and the episodes per candidate grow as differences
shrink. Whatever comes out replaces the program only if it wins a paired test on fresh episodes.
"""

from dataclasses import dataclass
from math import log
from time import monotonic

import numpy as np

from diprl.improve.fitness import Fitness, make_fitness
from diprl.improve.numbers import Point, from_point, measure_moments, to_point
from diprl.improve.search import Budget, Effort, Search, Terrain
from diprl.improve.visits import visited_views
from diprl.program import Program
from diprl.program.ast import If, walk
from diprl.program.signature import Discrete
from diprl.tasks.base import Task

CONFIDENCE = 2.33
"""Standard errors by which a polished program must win: one chance in a hundred of being fooled."""
FINAL_ROUND = 999_983
"""Number of the round of fresh episodes that decides; search never gets there."""


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
    """All environment steps, those of the final comparison included."""
    seconds: float


def polish(
    task: Task, program: Program, budget: Budget, *, seed: int = 0, effort: Effort | None = None
) -> Polished:
    """The program with better numbers and branches, or as it was."""
    began = monotonic()
    views = visited_views(task, program)[:, : task.layout.features]
    moments = measure_moments(views)
    start = to_point(program, moments)
    if not len(start.numbers):
        return Polished(program, False, 0.0, 0.0, len(views), monotonic() - began)
    effort = effort or default_effort(task, program, len(start.numbers))
    fitness = make_fitness(task, program, moments)
    actions = program.signature.actions
    terrain = Terrain(fitness, (views - moments.mean) / moments.scale, len(actions.names))
    remaining = budget.steps - len(views) - 2 * effort.final_episodes * expected_length(task, views)
    search = Search(terrain, effort, Budget(remaining, budget.seconds), seed)
    best = search.run(start)
    gain, error, steps = compare_fairly(fitness, start, best, effort.final_episodes)
    accepted = gain > CONFIDENCE * error
    final = from_point(program, best, moments) if accepted else program
    return Polished(final, accepted, gain, error, search.steps + steps + len(views), monotonic() - began)


def expected_length(task: Task, views: np.ndarray) -> float:
    """Steps per episode, as the visits showed."""
    return min(task.horizon, len(views) / 20)


def default_effort(task: Task, program: Program, size: int) -> Effort:
    """Large generations where a step costs nanoseconds, small ones where it costs microseconds."""
    population = 4 + int(3 * log(size))
    if task.twin is None:
        return Effort(population, episodes=4, most_episodes=16, mutants=0, final_episodes=100)
    mutable = isinstance(program.signature.actions, Discrete) and is_chain(program)
    return Effort(max(population, 24), 16, 256, 512 if mutable else 0, 4096)


def is_chain(program: Program) -> bool:
    return not any(isinstance(node.then, If) for node in walk(program.root) if isinstance(node, If))


def compare_fairly(fitness: Fitness, old: Point, new: Point, episodes: int) -> tuple[float, float, int]:
    """Mean paired difference (new − old) on episodes that no search has seen, its standard error, and the steps."""
    returns = fitness([old, new], episodes, FINAL_ROUND)
    difference = returns.values[1] - returns.values[0]
    return float(difference.mean()), float(difference.std(ddof=1) / len(difference) ** 0.5), returns.steps

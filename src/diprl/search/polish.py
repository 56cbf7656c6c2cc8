"""Polish: search over a discrete program on its true return, and keep only a real improvement.

Gradients bring a relaxed program to the right region; the last points are in the discrete program itself, whose return
has no gradient. All candidates of a generation play the same episodes, and their number grows as differences
shrink. Whatever comes out replaces the program only if it wins a paired test on fresh episodes.
"""

from collections.abc import Callable, Sequence
from math import log
from time import monotonic
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diprl.arena.episodes import POLISH_ROUND, VISITS
from diprl.arena.programs import ProgramPlayer, ProgramReturns, program_player
from diprl.arena.reference import visited_views
from diprl.arena.score import Trial
from diprl.program import Program
from diprl.program.ast import is_chain
from diprl.program.signature import Discrete
from diprl.search.numbers import Coordinates
from diprl.search.search import Effort, Search
from diprl.tasks.base import Task

CONFIDENCE = 2.33
"""Standard errors by which a polished program must win: one chance in a hundred of being fooled."""
BLOCK = 64
"""Episodes that the final comparison plays at a time."""


class Polished(NamedTuple):
    """What polishing achieved."""

    program: Program
    trial: Trial
    seconds: float


def polish(
    task: Task,
    program: Program,
    steps: float,
    *,
    seconds: float = float("inf"),
    seed: int = 0,
    effort: Effort | None = None,
    views: NDArray[np.float32] | None = None,
    most_steps: float = float("inf"),
    interrupt: Callable[[], None] = lambda: None,
    enough: Callable[[], bool] = lambda: False,
) -> Polished:
    """The program with better numbers and branches, or as it was.

    `views` are states that the program, or one much like it, visits; without them it is played to see some. Steps and
    seconds end the search, whichever comes first; `most_steps` bounds the search and the final comparison together.
    `interrupt` is called before each round of episodes and ends the search by raising; `enough` ends it too, and what
    was found by then counts.
    """
    began = monotonic()
    looked = 0
    if views is None:
        views = visited_views(task, program)
        looked = len(views)
    space = Coordinates(program, views[:, : task.layout.features])
    size = len(space.point().numbers)
    if not size:
        return Polished(program, Trial(False, 0.0, 0.0, 0), monotonic() - began)
    effort = effort or default_effort(task, program, size)
    play = interruptible(program_player(task, program), interrupt)
    search = Search(space, play, effort, steps - looked, seconds, seed, enough)
    found = search.run()
    used = search.steps + looked
    trial = compare_fairly(play, program, found, effort.final_episodes, most_steps - used)
    kept = found if trial.accepted else program
    return Polished(kept, trial._replace(steps=used + trial.steps), monotonic() - began)


def default_effort(task: Task, program: Program, size: int) -> Effort:
    """Large generations where a step costs nanoseconds, small ones where it costs microseconds."""
    population = 4 + int(3 * log(size))
    if task.twin is None:
        return Effort(population, episodes=4, most_episodes=16, mutants=0, final_episodes=100)
    variations = 400_000 // task.horizon if is_mutable(program) else 0
    return Effort(max(population, 24), 64, 256, variations, 4096)


def interruptible(player: ProgramPlayer, interrupt: Callable[[], None]) -> ProgramPlayer:
    """The same player, which asks before each round whether to go on."""

    def play(programs: Sequence[Program], episodes: int, round_number: int) -> ProgramReturns:
        interrupt()
        return player(programs, episodes, round_number)

    return play


def polish_within(
    task: Task, program: Program, steps: int, seed: int, interrupt: Callable[[], None] = lambda: None
) -> Polished:
    """Polish with so many environment steps in all: most for the search, a quarter for the final comparison.

    The rest is a reserve, since a generation that has begun is played to its end.
    """
    views = visited_views(task, program)
    length = max(1.0, len(views) / VISITS.on_reference)
    remaining = steps - len(views)
    final = max(2, min(4096, int(remaining / 8 / length)))
    variations = 64 if task.twin is not None and is_mutable(program) else 0
    effort = Effort(population=16, episodes=4, most_episodes=16, mutants=variations, final_episodes=final)
    found = polish(
        task, program, 0.6 * remaining, seed=seed, effort=effort, views=views, most_steps=remaining, interrupt=interrupt
    )
    return found._replace(trial=found.trial._replace(steps=found.trial.steps + len(views)))


def is_mutable(program: Program) -> bool:
    """Whether branches may be exchanged: an if/elif/else chain with discrete actions."""
    discrete = isinstance(program.signature.actions, Discrete)
    return discrete and program.conditions > 0 and is_chain(program.root)


def compare_fairly(
    play: ProgramPlayer, old: Program, new: Program, episodes: int, most_steps: float = float("inf")
) -> Trial:
    """The new program against the old on episodes that no search has seen.

    Plays in blocks, so that programs which keep episodes going for longer do not go over the budget.
    """
    differences, steps, block = np.zeros(0), 0, min(episodes, BLOCK)
    while len(differences) < episodes and steps * (1 + block / max(len(differences), 1)) <= most_steps:
        returns = play([old, new], block, POLISH_ROUND + len(differences))
        differences = np.append(differences, returns.values[1] - returns.values[0])
        steps += returns.steps
    if len(differences) < 2:  # nothing is left to compare with, and nothing is proved
        return Trial(False, 0.0, 0.0, steps)
    gain, error = float(differences.mean()), standard_error(differences)
    return Trial(gain > CONFIDENCE * error, gain, error, steps)


def standard_error(differences: NDArray[np.float64]) -> float:
    return float(differences.std(ddof=1)) / len(differences) ** 0.5

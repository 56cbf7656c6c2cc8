"""Episodes for a search over programs: counted, limited in steps and time, the same for all programs of a round."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from diprl.arena.episodes import VISITS, VISITS_ROUND
from diprl.arena.programs import TwinPlayer, program_player
from diprl.arena.reference import visited_views
from diprl.program import Program
from diprl.tasks.base import Task


def never() -> bool:
    return False


class Spent(Exception):
    """No further episode fits into the budget."""


SEEING, MOST_VISITS = 0.04, 200
"""Part of the steps that are left for looking at the states a program visits, and the most episodes of it."""
FORGETTING = 0.9
"""What a round counts for, relative to the next, in the pace."""


class Trials:
    """Plays programs no larger than the one it is made for, and pays what training pays."""

    def __init__(
        self,
        task: Task,
        program: Program,
        steps: float = float("inf"),
        seconds: float = float("inf"),
        interrupt: Callable[[], None] = lambda: None,
        enough: Callable[[], bool] = never,
    ) -> None:
        """Steps and seconds are what a search may take, unless somebody has had `enough` of it.

        `interrupt` is called before each round and ends everything by raising.
        """
        self.enough = enough
        self.task = replace(task, reference=task.practice) if task.practice else task
        self.interrupt, self.player = interrupt, program_player(self.task, program)
        self.most_steps, self.seconds = steps, seconds
        self.began = self.paced = monotonic()
        self.recent_steps, self.recent_seconds = 0.0, 0.0
        self.steps, self.last, self.rounds = 0, 0, 0
        self.grace = 0.0
        """Steps that may be taken although the time is over."""
        self.length = float(task.horizon)
        """Steps of an episode, as played so far."""

    def play(self, programs: Sequence[Program], episodes: int, series: int = 0) -> NDArray[np.float64]:
        """Returns (programs, episodes) on fresh episodes, fewer of them where the budget ends.

        Rounds of one series meet no episode of another. No round is begun that might go over the budget.
        """
        played: list[NDArray[np.float64]] = []
        while episodes > 0:
            fitting = min(episodes, int(min(self.left, 1e12) // (len(programs) * self.task.horizon)))
            if not fitting:
                break
            self.interrupt()
            self.rounds += 1
            returns = self.player(programs, fitting, series + self.rounds)
            self.last = returns.steps
            self.count(returns.steps, typical=self.rounds > 1)
            self.length = returns.steps / returns.values.size
            played.append(returns.values)
            episodes -= fitting
        if not played:
            raise Spent
        return np.concatenate(played, axis=1)

    def views(self, program: Program) -> NDArray[np.float32]:
        """States that a program visits: rare ones count too, so a small part of the steps goes to them.

        Where time is limited, they are watched on the twin.
        """
        left = min(self.left, 1e12)
        episodes = max(VISITS.on_reference, min(MOST_VISITS, int(SEEING * left / self.length)))
        episodes = min(episodes, int(left // (4 * self.task.horizon)))
        if not episodes:
            raise Spent
        self.interrupt()
        if self.seconds < float("inf") and isinstance(self.player, TwinPlayer):
            views = self.player.views(program, episodes, VISITS_ROUND)
        else:
            views = visited_views(self.task, program, episodes)
        self.count(len(views), typical=False)
        self.length = len(views) / episodes
        return views[:, : self.task.layout.features]

    @property
    def passed(self) -> float:
        """Seconds since the beginning."""
        return monotonic() - self.began

    @property
    def left(self) -> float:
        """Steps that may still be taken; where time is limited, as many as it allows at the recent pace."""
        if self.enough():
            return 0.0
        seconds = self.seconds - self.passed
        in_time = seconds * self.recent_steps / self.recent_seconds if self.recent_seconds else float("inf")
        return max(0.0, min(self.most_steps - self.steps, max(in_time, self.grace)))

    @contextmanager
    def part(self, part: float) -> Iterator[None]:
        """Meanwhile only a part of the steps and of the time that are left may be taken."""
        most_steps, seconds, passed = self.most_steps, self.seconds, self.passed
        self.most_steps = self.steps + part * (most_steps - self.steps)
        self.seconds = passed + part * (seconds - passed)
        try:
            yield
        finally:
            self.most_steps, self.seconds = most_steps, seconds

    def count(self, steps: int, typical: bool = True) -> None:
        """Take note of steps, and of the time they took unless they compiled first or were played elsewhere."""
        now = monotonic()
        self.steps += steps
        if typical:
            self.recent_steps = FORGETTING * self.recent_steps + steps
            self.recent_seconds = FORGETTING * self.recent_seconds + now - self.paced
        self.paced = now

    def spent(self) -> bool:
        """Whether another round like the last one would go over the limit."""
        return self.left <= self.last

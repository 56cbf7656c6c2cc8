"""Which episodes serve which purpose: every first seed and every number of episodes in one table.

Training resets with the run's own seeds. All other episodes come from the ranges below, so that what is reported was
never trained on, searched on or chosen by.
"""

from typing import NamedTuple

from diprl.tasks.base import Task


class Series(NamedTuple):
    """Episodes for one purpose: the first seed, and how many are played where."""

    seed: int
    on_twin: int
    on_reference: int

    def count(self, task: Task) -> int:
        return self.on_twin if task.twin is not None else self.on_reference


VISITS = Series(300_000, 20, 20)
"""Only looked at: which states a program visits."""
REPORTS = Series(500_000, 128, 5)
"""Validation at each report of a training."""
GAP = Series(500_000, 512, 100)
"""What each step of hardening costs."""
TREES = Series(500_000, 240, 240)
"""Choice among VIPER's trees; the candidates share them at each halving."""
BLENDS = Series(500_000, 20, 20)
"""Choice among constant blends of primitives."""
EVALUATION = Series(1_000_000, 100, 100)
"""Scores that are reported."""

ROUNDS_SEED = 2_000_000
"""Searches over programs play rounds; all programs of a round meet the same starts."""
ROUND_LENGTH = 10_000
"""Seeds that each round has to itself."""
VISITS_ROUND = 444_443
"""Only looked at, on a twin."""
MEMBERS_ROUND, MEMBERS_EPISODES = 555_555, 256
"""Choice among the members of a run."""
FRONT_ROUND = 666_667
"""Choice among programs of different sizes."""
POLISH_ROUND = 999_983
"""The last comparison of a polished program with the original; searches never get there."""

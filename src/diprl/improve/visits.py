"""The states a program visits: what scales, shares of branches and differences between programs are measured on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.tasks.base import Task
from diprl.train.evaluate import evaluate, program_act

VISIT_SEED = 300_000
"""First seed of episodes that are only looked at: neither trained on, nor validated on, nor reported."""


VISITED_EPISODES = 20


def visited_views(
    task: Task, program: Program, episodes: int = VISITED_EPISODES, seed: int = VISIT_SEED
) -> NDArray[np.float32]:
    """Every view that the program acts on in some episodes on the reference environment."""
    act, seen = program_act(task, program), []

    def watch(views: NDArray[np.float32]) -> NDArray[Any]:
        seen.append(np.array(views))
        return act(views)

    evaluate(task, watch, episodes, seed)
    return np.concatenate(seen)

"""The states a program visits: what scales, shares of branches and differences between programs are measured on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.arena.episodes import VISITS
from diprl.arena.reference import evaluate, program_act
from diprl.program import Program
from diprl.tasks.base import Task


def visited_views(
    task: Task, program: Program, episodes: int = VISITS.on_reference, seed: int = VISITS.seed
) -> NDArray[np.float32]:
    """Every view that the program acts on in some episodes on the reference environment."""
    act, seen = program_act(task, program), []

    def watch(views: NDArray[np.float32]) -> NDArray[Any]:
        seen.append(np.array(views))
        return act(views)

    evaluate(task, watch, episodes, seed)
    return np.concatenate(seen)

"""A window in which a program plays."""

from diprl.program import Program
from diprl.tasks.base import Task
from diprl.watch.episode import play_moments
from diprl.watch.screen import open_environment


def show(task: Task, program: Program, seeds: range) -> list[float]:
    """Play the episodes of some seeds in a window at the environment's own pace; returns what they earned."""
    environment = open_environment(task, "human")
    returns = []
    try:
        for seed in seeds:
            total = 0.0
            for moment in play_moments(task, program, environment, seed):
                total = moment.total
            returns.append(total)
    finally:
        environment.close()
    return returns

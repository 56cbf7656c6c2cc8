"""The paper's published numbers: mean and standard deviation over three seeds, by table, row and task."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

DISCRETE = ("CartPole-v1", "Acrobot-v1", "MountainCar-v0", "DoorKey-6x6", "LunarLander-v3")
CONTINUOUS = ("HalfCheetahHurdle", "Pusher2D", "AntRandomGoal", "AntCrossMaze")
SEEDS = (123, 321, 456)
PAPER_NAMES = {"LunarLander-v3": "LunarLander-v2"}
"""Tasks that the paper knows under another name."""

Published = tuple[float, float]


@cache
def paper_results() -> dict[str, Any]:
    return json.loads(files("diprl.experiment").joinpath("paper_results.json").read_text(encoding="utf-8"))


def published(table: str, *path: str, task: str) -> Published | None:
    """One cell of the paper, or None where it has none.

    >>> published("discrete_reward", "DiPRL", task="LunarLander-v3")
    (260.21, 13.61)
    """
    place: Any = paper_results()[table]
    for name in (*path, PAPER_NAMES.get(task, task)):
        if name not in place:
            return None
        place = place[name]
    return (place[0], place[1])


def published_range(task: str) -> tuple[float, float]:
    """The lowest and the highest mean return of any method in the paper, by which returns are normalised."""
    table = paper_results()["discrete_reward" if task in DISCRETE else "continuous_reward"]
    means = [row[PAPER_NAMES.get(task, task)][0] for row in table.values()]
    return min(means), max(means)

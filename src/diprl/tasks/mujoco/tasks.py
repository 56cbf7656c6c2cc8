"""The four MuJoCo tasks as programs see them: condition features and primitives to blend."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from math import inf
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from diprl.program.signature import Feature, Primitives, Signature
from diprl.tasks.base import Layout, Task
from diprl.tasks.mujoco import senses
from diprl.tasks.mujoco.ant import (
    APPROACH_CROSS_MAZE,
    APPROACH_RANDOM_GOAL,
    CROSS_MAZE,
    EXPLORED_CROSS_MAZE,
    RANDOM_GOAL,
)
from diprl.tasks.mujoco.batch import MujocoEnvironments
from diprl.tasks.mujoco.cheetah import HURDLE, LAST_HURDLE
from diprl.tasks.mujoco.description import Description
from diprl.tasks.mujoco.primitive_files import bundled_primitive
from diprl.tasks.mujoco.primitives import Primitive
from diprl.tasks.mujoco.pusher import PUSHER
from diprl.tasks.mujoco.symmetry import turned

PI = float(np.float32(np.pi))


@dataclass(frozen=True)
class Robot:
    """What the tasks of one robot share: what conditions read, and the primitives with what they perceive."""

    features: tuple[Feature, ...]
    read: Callable[[NDArray[Any]], NDArray[Any]]
    """Condition features from a batch of observations."""
    senses: senses.Senses
    primitive_names: tuple[str, ...]
    load: Callable[[], tuple[Primitive, ...]]


def _bundled(*names: str) -> tuple[Primitive, ...]:
    return tuple(bundled_primitive(name) for name in names)


@cache
def _ant_primitives() -> tuple[Primitive, ...]:
    """All four directions from the one that ships."""
    ahead = bundled_primitive("ant_up")
    quarter_turns = {"up": 0, "down": 2, "left": 1, "right": 3}
    return tuple(turned(ahead, turns, f"ant_{name}") for name, turns in quarter_turns.items())


def _ant_features(observation: NDArray[Any]) -> NDArray[Any]:
    x, y = observation[:, 0], observation[:, 1]
    return np.column_stack((x, y, observation[:, -2:], np.arctan2(y, x), np.hypot(x, y)))


CHEETAH = Robot(
    (
        Feature("next_hurdle_x", "m", -LAST_HURDLE, LAST_HURDLE, "x of the first bar at or beyond the back foot"),
        Feature("back_foot_distance", "m", 0.0, inf, "distance along x from the back foot to that bar"),
    ),
    lambda observation: observation[:, -2:],
    senses.CHEETAH,
    ("forward", "jump"),
    partial(_bundled, "cheetah_forward", "cheetah_jump"),
)
ARM = Robot(
    tuple(Feature(name, "m") for name in ("tip_x", "tip_y", "puck_x", "puck_y")),
    lambda observation: observation[:, (9, 10, 12, 13)],
    senses.PUSHER,
    ("left", "down"),
    partial(_bundled, "pusher_left", "pusher_down"),
)
ANT = Robot(
    (
        *(Feature(name, "m") for name in ("x", "y", "goal_x", "goal_y")),
        Feature("bearing", "rad", -PI, PI, "atan2(y, x)"),
        Feature("radius", "m", 0.0, inf, "distance from the origin"),
    ),
    _ant_features,
    senses.ANT,
    ("up", "down", "left", "right"),
    _ant_primitives,
)


def mujoco_tasks() -> dict[str, Callable[[], Task]]:
    """The tasks by name; primitives load when a task is first looked at through its view.

    The ants train to arrive; those named `-return` train for the task's own return, which lingering maximises.
    """
    random_goal = partial(_task, RANDOM_GOAL, ANT, budget=6_000_000, paper_score=413.12)
    cross_maze = partial(_task, CROSS_MAZE, ANT, budget=5_000_000, paper_score=220.25)
    return {
        "HalfCheetahHurdle": partial(_task, HURDLE, CHEETAH, budget=5_000_000, paper_score=723.88),
        "Pusher2D": partial(_task, PUSHER, ARM, budget=250_000, paper_score=-78.62),
        "AntRandomGoal": partial(random_goal, training=APPROACH_RANDOM_GOAL),
        "AntCrossMaze": partial(cross_maze, training=APPROACH_CROSS_MAZE),
        "AntRandomGoal-return": partial(random_goal, name="AntRandomGoal-return"),
        "AntCrossMaze-return": partial(cross_maze, name="AntCrossMaze-return", training=EXPLORED_CROSS_MAZE),
    }


def view_of(robot: Robot, observations: NDArray[Any]) -> NDArray[np.float32]:
    """Condition features, the whole observation for the critic, and each primitive's action."""
    felt = robot.senses.extract(observations)
    actions = [primitive.actions(felt) for primitive in robot.load()]
    return np.column_stack((robot.read(observations), observations, *actions)).astype(np.float32)


def _task(
    description: Description,
    robot: Robot,
    *,
    budget: int,
    paper_score: float,
    training: Description | None = None,
    name: str | None = None,
) -> Task:
    """A description as a task, collected on another one where training rewards something else than the score."""
    view = partial(view_of, robot)
    bounds = (description.action_limit,) * description.action_size
    actions = Primitives(robot.primitive_names, tuple(-bound for bound in bounds), bounds)
    features = len(robot.features)
    return Task(
        name=name or description.name,
        signature=Signature(robot.features, actions),
        reference=partial(gym.make, f"diprl.tasks.mujoco:diprl/{description.name}-v0", disable_env_checker=True),
        horizon=description.horizon,
        layout=Layout(
            features,
            features + description.observation_size,
            len(robot.primitive_names),
            description.action_size,
        ),
        view=view,
        environments=partial(MujocoEnvironments, training or description, view),
        budget=budget,
        paper_score=paper_score,
    )

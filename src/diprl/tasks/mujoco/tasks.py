"""The four MuJoCo tasks as programs see them: condition features and primitives to blend."""

from collections.abc import Callable
from functools import partial

import gymnasium as gym

from diprl.program.signature import Primitives, Signature
from diprl.tasks.base import Task, ViewLayout
from diprl.tasks.mujoco import ant
from diprl.tasks.mujoco.cheetah import HURDLE
from diprl.tasks.mujoco.description import Description
from diprl.tasks.mujoco.environment import MujocoEnvironments
from diprl.tasks.mujoco.pusher import PUSHER
from diprl.tasks.mujoco.robots import ANT, ARM, CHEETAH, RUNNER, Robot


def mujoco_tasks() -> dict[str, Callable[[], Task]]:
    """The tasks by name; primitives load when a task is first looked at through its view.

    The ants train to arrive; those named `-return` train for the task's own return, which lingering maximises.
    `AntCrossMaze-unmodified` also begins where the task does. The cheetah of `HalfCheetahHurdle-composed` has skills
    that it learnt away from the track.
    """
    random_goal = partial(_task, ant.RANDOM_GOAL, ANT, budget=6_000_000, paper_score=413.12)
    cross_maze = partial(_task, ant.CROSS_MAZE, ANT, budget=5_000_000, paper_score=220.25)
    explored = ant.EXPLORED_CROSS_MAZE
    hurdle = partial(_task, HURDLE, budget=5_000_000, paper_score=723.88)
    return {
        "HalfCheetahHurdle": partial(hurdle, CHEETAH),
        "HalfCheetahHurdle-composed": partial(hurdle, RUNNER, name="HalfCheetahHurdle-composed"),
        "Pusher2D": partial(_task, PUSHER, ARM, budget=250_000, paper_score=-78.62),
        "AntRandomGoal": partial(random_goal, training=ant.APPROACH_RANDOM_GOAL),
        "AntCrossMaze": partial(cross_maze, training=ant.APPROACH_CROSS_MAZE),
        "AntRandomGoal-return": partial(random_goal, name="AntRandomGoal-return"),
        "AntCrossMaze-unmodified": partial(cross_maze, name="AntCrossMaze-unmodified"),
        "AntCrossMaze-return": partial(cross_maze, name="AntCrossMaze-return", training=explored),
    }


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
    features, primitives = len(robot.features), tuple(robot.primitives)
    identifier = f"diprl.tasks.mujoco:diprl/{description.name}-v0"
    return Task(
        name=name or description.name,
        signature=Signature(robot.features, Primitives(primitives, *description.bounds)),
        reference=partial(gym.make, identifier, disable_env_checker=True),
        horizon=description.horizon,
        layout=ViewLayout(features, features + description.observation_size, len(primitives), description.action_size),
        view=robot.view,
        environments=partial(MujocoEnvironments, training or description, robot.view),
        networks=lambda: robot.networks,
        budget=budget,
        paper_score=paper_score,
    )

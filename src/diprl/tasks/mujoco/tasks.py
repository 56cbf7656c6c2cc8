"""The three robots, and the four MuJoCo tasks as programs see them: condition features and primitives to blend."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.resources import files
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from diprl.program.networks import Network
from diprl.program.signature import Feature, Primitives, Signature
from diprl.tasks.base import Task, ViewLayout
from diprl.tasks.mujoco import ant
from diprl.tasks.mujoco.cheetah import HURDLE
from diprl.tasks.mujoco.description import Description
from diprl.tasks.mujoco.environment import MujocoEnvironments, limited
from diprl.tasks.mujoco.primitives import bundled_primitive
from diprl.tasks.mujoco.pusher import PUSHER
from diprl.tasks.mujoco.symmetry import turned
from diprl.tasks.names import expanded, named_features

Cut = Callable[[NDArray[Any]], NDArray[Any]]
"""Some numbers (n, …) out of each of n observations."""


@dataclass(frozen=True)
class Robot:
    """What the tasks of one robot share."""

    features: tuple[Feature, ...]
    """What conditions read."""
    read: Cut
    senses: tuple[Feature, ...]
    """What primitives read: the robot's own posture and motion."""
    feel: Cut
    motors: tuple[str, ...]
    primitives: Mapping[str, Callable[[], Network]]
    """Loads each primitive, under the name that programs give it."""

    @cached_property
    def networks(self) -> tuple[Network, ...]:
        """The primitives, loaded when they are first asked for."""
        return tuple(replace(load(), name=name) for name, load in self.primitives.items())

    def view(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        """Condition features, the whole observation for the critic, and each primitive's action."""
        felt = self.feel(observations)
        actions = [network.actions(felt) for network in self.networks]
        return np.column_stack((self.read(observations), observations, *actions)).astype(np.float32)


def _read_ant(observation: NDArray[Any]) -> NDArray[Any]:
    x, y = observation[:, 0], observation[:, 1]
    return np.column_stack((x, y, observation[:, -2:], np.arctan2(y, x), np.hypot(x, y)))


def _shipped(name: str, quarter_turns: int = 0) -> Network:
    """A network that ships; the ant's other directions are turns of the one that does."""
    return turned(bundled_primitive(name).network, quarter_turns)


def _robot(name: str, read: Cut, feel: Cut) -> Robot:
    """A robot of the data file, with how its observations are cut."""
    told = ROBOTS[name]
    return Robot(
        features=tuple(Feature(feature, **facts) for feature, facts in told["features"].items()),
        read=read,
        senses=named_features(told["senses"]),
        feel=feel,
        motors=expanded(told["motors"]),
        primitives={primitive: partial(_shipped, *source) for primitive, source in told["primitives"].items()},
    )


ROBOTS = tomllib.loads((files("diprl.tasks.mujoco") / "data" / "robots.toml").read_text(encoding="utf-8"))
CHEETAH = _robot("cheetah", lambda observation: observation[:, -2:], lambda observation: observation[:, 1:18])
RUNNER = replace(CHEETAH, primitives={name: partial(_shipped, f"cheetah_{name}") for name in ("run", "leap")})
"""The cheetah with skills learnt away from the track, which a program has to put together."""
ARM = _robot("arm", lambda observation: observation[:, (9, 10, 12, 13)], lambda observation: observation)
ANT = _robot("ant", _read_ant, lambda observation: observation[:, 2 : ant.POSITIONS + ant.VELOCITIES])


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
        practice=partial(limited, training) if training else None,
        horizon=description.horizon,
        layout=ViewLayout(features, features + description.observation_size, len(primitives), description.action_size),
        view=robot.view,
        environments=partial(MujocoEnvironments, training or description, robot.view),
        networks=lambda: robot.networks,
        budget=budget,
        paper_score=paper_score,
    )

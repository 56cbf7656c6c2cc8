"""AntRandomGoal and AntCrossMaze: a four-legged ant walks to a goal, in the open or among walls."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.tasks.mujoco import engine
from diprl.tasks.mujoco.description import Array, Description, Judgement, JudgeStep, Start, States, shaken, squared_norm
from diprl.tasks.mujoco.engine import MjModel

POSITIONS, VELOCITIES, ACTUATORS = 15, 14, 8
STANDING = np.array([0.0, 0.0, 0.75, 1.0] + [0.0] * 11)
HEALTHY_HEIGHT = (0.2, 1.0)
RANDOM_GOAL_RADIUS, AREA = 0.25, 5.0
MAZE_GOAL_RADIUS = 1.0
MAZE_GOALS = np.array([[6.0, -6.0], [12.0, 0.0], [6.0, 6.0]])
ARRIVAL_BONUS = 50.0
"""As much as 2.5 m of approach: a program that only hovers about the goal must find it worth its while to enter."""
WALLS_ALONG_X = ((1, -2.5), (1, 2.5), (6, 7.5), (6, -7.5), (11, -2.5), (11, 2.5))
WALLS_ALONG_Y = ((-2, 0), (3.5, 5), (3.5, -5), (8.5, 5), (8.5, -5), (13.5, 0))
CROSS = (
    *(((x, y, 0.5), (3.0, 0.5, 1.0)) for x, y in WALLS_ALONG_X),
    *(((x, y, 0.5), (0.5, 3.0, 1.0)) for x, y in WALLS_ALONG_Y),
)
"""The walls of a cross of corridors."""
Place = tuple[float, float, float]


def ground(goal_radius: float, camera: Place, walls: Sequence[tuple[Place, Place]] = ()) -> MjModel:
    """Gymnasium's ant on a plane with walls (centre, half size), seen from above."""
    spec = engine.gymnasium_model("ant.xml")
    engine.add_goal(spec, goal_radius)
    for centre, half_size in walls:
        engine.add_box(spec, centre, half_size)
    downwards = engine.import_mujoco().mjtCamLight.mjCAMLIGHT_FIXED
    spec.worldbody.add_camera(name="overview", mode=downwards, pos=camera)
    return engine.compile_tracking(spec, ("torso",))


def start_with_random_goal(rng: np.random.Generator, count: int) -> Start:
    """Standing at the origin, shaken; the goal lies in any direction, between 1 (excluded) and 5 away."""
    angle = rng.uniform(0.0, 2.0 * np.pi, count)
    radius = AREA - (AREA - 1.0) * rng.random(count)
    goal = radius[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    return Start(*shaken(STANDING, VELOCITIES, rng, count), goal)


def start_in_maze(rng: np.random.Generator, count: int) -> Start:
    """Standing at the origin, shaken; the goal is the end of one of three corridors."""
    goal = MAZE_GOALS[rng.integers(len(MAZE_GOALS), size=count)]
    return Start(*shaken(STANDING, VELOCITIES, rng, count), goal)


def start_about_maze(rng: np.random.Generator, count: int) -> Start:
    """Half of the ants at the task's start, the others spread over the corridors, where goals are soon met."""
    start = start_in_maze(rng, count)
    elsewhere = rng.random(count) < 0.5
    in_side_arm = elsewhere & (rng.random(count) < 0.3)
    along = elsewhere & ~in_side_arm
    start.qpos[along, 0] += rng.uniform(0.0, 10.0, along.sum())
    start.qpos[in_side_arm, 0] += rng.uniform(4.5, 7.5, in_side_arm.sum())
    start.qpos[in_side_arm, 1] += rng.uniform(-5.0, 5.0, in_side_arm.sum())
    return start


def observe(states: States) -> Array:
    return np.column_stack((states.qpos, states.qvel, states.goal))


def healthy(states: States) -> NDArray[np.bool_]:
    """Whether the torso is neither on the ground nor in the air."""
    height = states.places[:, 0, 2]
    return (height >= HEALTHY_HEIGHT[0]) & (height <= HEALTHY_HEIGHT[1])


def distance_to_goal(states: States, goal_radius: float) -> Array:
    return np.maximum(np.linalg.norm(states.places[:, 0, :2] - states.goal, axis=1) - goal_radius, 0.0)


def judge(before: States, actions: Array, after: States, *, goal_radius: float, area: float) -> Judgement:
    """Pays for being near the goal and on the feet; arriving or leaving the area ends the episode."""
    distance = distance_to_goal(after, goal_radius)
    arrived: NDArray[Any] = distance <= 0.0
    outside = np.linalg.norm(after.places[:, 0, :2], axis=1) > area
    parts = {"goal": 0.3 * (5.0 - distance), "healthy": 0.05 * healthy(after), "effort": -0.01 * squared_norm(actions)}
    return Judgement.sum(parts, arrived | outside, distance=distance, is_success=arrived)


def walk_to_goal(states: States) -> Array:
    """Metres to walk along x and then along y, as in corridors: the straight line there leads into walls."""
    return np.abs(states.places[:, 0, :2] - states.goal).sum(axis=1)


def judge_approach(
    before: States, actions: Array, after: States, *, official: JudgeStep, remaining: Callable[[States], Array]
) -> Judgement:
    """The same episodes, paid for approaching and arriving.

    The task's own reward is highest for an ant that lingers beside the goal and never ends the episode by reaching it.
    """
    _, ended, facts = official(before, actions, after)
    distance, arrived = facts["distance"], facts["is_success"]
    parts = {"approach": (remaining(before) - remaining(after)) / engine.INTERVAL, "arrival": ARRIVAL_BONUS * arrived}
    return Judgement.sum(parts, ended, distance=distance, is_success=arrived)


RANDOM_GOAL = Description(
    name="AntRandomGoal",
    model=partial(ground, RANDOM_GOAL_RADIUS, camera=(0.0, 0.0, 14.0)),
    start=start_with_random_goal,
    observe=observe,
    judge=partial(judge, goal_radius=RANDOM_GOAL_RADIUS, area=AREA),
    observation_size=POSITIONS + VELOCITIES + 2,
    action_size=ACTUATORS,
    horizon=500,
)
STRAIGHT_LINE = partial(distance_to_goal, goal_radius=RANDOM_GOAL_RADIUS)
APPROACH_RANDOM_GOAL = replace(
    RANDOM_GOAL, judge=partial(judge_approach, official=RANDOM_GOAL.judge, remaining=STRAIGHT_LINE)
)
CROSS_MAZE = replace(
    RANDOM_GOAL,
    name="AntCrossMaze",
    model=partial(ground, MAZE_GOAL_RADIUS, camera=(6.0, 0.0, 22.0), walls=CROSS),
    start=start_in_maze,
    judge=partial(judge, goal_radius=MAZE_GOAL_RADIUS, area=np.inf),
    horizon=1000,
)
EXPLORED_CROSS_MAZE = replace(CROSS_MAZE, start=start_about_maze, horizon=450)
"""The same rewards for learners: begun all over the maze, and short, since time against a wall teaches nothing."""
APPROACH_CROSS_MAZE = replace(
    EXPLORED_CROSS_MAZE, judge=partial(judge_approach, official=CROSS_MAZE.judge, remaining=walk_to_goal)
)

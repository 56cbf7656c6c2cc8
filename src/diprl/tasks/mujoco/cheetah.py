"""HalfCheetahHurdle: a planar cheetah runs over floating bars to a target."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diprl.tasks.mujoco import engine
from diprl.tasks.mujoco.description import Array, Description, Judgement, Start, States, shaken

HURDLES = np.array([-15.0, -13, -9, -5, -1, 3, 7, 11, 15, 19, 23, 27])
LAST_HURDLE = 15.0
"""Bars beyond it stand on the track but are neither observed nor counted."""
COUNTED = HURDLES[HURDLES <= LAST_HURDLE]
TARGET = np.array([12.0, 0.0, 0.5])
TARGET_RADIUS = 1.0
TOTAL_MASS = 14.0
JOINTS, ACTUATORS = 9, 6
TORSO, BACK_FOOT, FRONT_FOOT = range(3)


def model(hurdles: Sequence[float] = tuple(HURDLES)) -> engine.MjModel:
    """Gymnasium's half cheetah on a track with bars, twelve on the task's own, and a target ball."""
    mujoco = engine.import_mujoco()
    spec = engine.gymnasium_model("half_cheetah.xml", drop='settotalmass="14"')
    for x in hurdles:
        engine.add_box(spec, (x, 0.0, 0.20), (0.05, 1.0, 0.03))
    engine.add_goal(spec, TARGET_RADIUS, tuple(TARGET))
    torso = spec.body("torso")
    side = mujoco.mjtCamLight.mjCAMLIGHT_TRACKCOM
    torso.add_camera(name="overview", mode=side, pos=[0, -4, 0.5], xyaxes=[1, 0, 0, 0, 0, 1])
    compiled = engine.compile_tracking(spec, ("torso", "bfoot", "ffoot"))
    mujoco.mj_setTotalmass(compiled, TOTAL_MASS)
    mujoco.mj_setConst(compiled, mujoco.MjData(compiled))
    return compiled


def start(rng: np.random.Generator, count: int) -> Start:
    """Standing at the origin, shaken."""
    return Start(*shaken(np.zeros(JOINTS), JOINTS, rng, count), np.empty((count, 0)))


def next_hurdle(foot_x: Array) -> tuple[Array, NDArray[np.int64]]:
    """The first counted bar at or beyond each foot (the last if none is) and how many lie there."""
    ahead = foot_x[:, None] <= COUNTED
    remaining = np.sum(ahead, axis=1)
    return COUNTED[np.minimum(len(COUNTED) - remaining, len(COUNTED) - 1)], remaining


def observe(states: States) -> Array:
    """Positions, velocities, next bar, and the distance from the back foot to it."""
    foot = states.places[:, BACK_FOOT, 0]
    hurdle, _ = next_hurdle(foot)
    return np.column_stack((states.qpos, states.qvel, hurdle, np.abs(hurdle - foot)))


def judge(before: States, actions: Array, after: States) -> Judgement:
    """Pays for speed, leaps and arrival; charges distance, bars ahead and a front foot short of a bar."""
    front = after.places[:, FRONT_FOOT, 0]
    hurdle, remaining = next_hurdle(front)
    collision = (remaining > 0) & (hurdle - front <= 0.075)
    distance = np.linalg.norm(after.places[:, TORSO] - TARGET, axis=1) - TARGET_RADIUS
    arrived = distance <= 0.0
    distance = np.maximum(distance, 0.0)
    parts = {
        "distance": -0.1 * distance,
        "run": after.velocity_since(before, 0),
        "leap": 0.3 * np.abs(after.velocity_since(before, 1)),
        "hurdles": -next_hurdle(after.places[:, BACK_FOOT, 0])[1].astype(np.float64),
        "collision": -2.0 * collision,
        "goal": 1000.0 * arrived,
    }
    return Judgement.sum(parts, arrived, distance=distance, is_success=arrived)


HURDLE = Description(
    name="HalfCheetahHurdle",
    model=model,
    start=start,
    observe=observe,
    judge=judge,
    observation_size=2 * JOINTS + 2,
    action_size=ACTUATORS,
    horizon=1000,
)

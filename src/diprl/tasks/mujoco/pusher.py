"""Pusher2D: a planar arm with a fork pushes a puck to a goal on a frictionless table."""

from importlib.resources import files

import numpy as np

from diprl.tasks.mujoco.description import Array, Description, Judgement, Start, States, squared_norm
from diprl.tasks.mujoco.engine import MjModel, compile_tracking, import_mujoco

GOAL = np.array([0.0, -1.0])
JOINTS, MOTOR_LIMIT = 3, 3.0
TIP, PUCK = range(2)
EFFORT = 0.1
"""Cost of a squared unit of motor command."""


def model() -> MjModel:
    text = (files("diprl.tasks.mujoco") / "data" / "pusher2d.xml").read_text()
    return compile_tracking(import_mujoco().MjSpec.from_string(text), ("fork", "puck"))


def start(rng: np.random.Generator, count: int) -> Start:
    """The arm near its neutral pose and the puck somewhere to the right, all at rest."""
    joints = rng.uniform(-0.1, 0.1, (count, JOINTS))
    puck = rng.uniform((0.3, -1.0), (1.0, -0.4), (count, 2))
    qpos = np.hstack((joints, puck))
    return Start(qpos, np.zeros_like(qpos), np.empty((count, 0)))


def observe(states: States) -> Array:
    """Sines and cosines of the joints, joint velocities, tip and puck."""
    joints = states.qpos[:, :JOINTS]
    tip, puck = states.places[:, TIP], states.places[:, PUCK]
    return np.column_stack((np.sin(joints), np.cos(joints), states.qvel[:, :JOINTS], tip, puck))


def reach(states: States) -> Array:
    """Distance between the fork's crossbar and the puck's centre."""
    return np.linalg.norm(states.places[:, TIP] - states.places[:, PUCK], axis=1)


def judge(before: States, actions: Array, after: States) -> Judgement:
    """Charges both distances as they were when the action was chosen, and the action itself."""
    offset = np.linalg.norm(before.places[:, PUCK, :2] - GOAL, axis=1)
    parts = {"reach": -0.5 * reach(before), "goal": -offset, "effort": -EFFORT * squared_norm(actions)}
    distance = np.maximum(offset - 0.07, 0.0)
    return Judgement.sum(parts, distance=distance, is_success=offset <= 0.17)


PUSHER = Description(
    name="Pusher2D",
    model=model,
    start=start,
    observe=observe,
    judge=judge,
    observation_size=15,
    action_size=JOINTS,
    horizon=100,
    action_limit=MOTOR_LIMIT,
)

"""What Gymnasium's MuJoCo environments show, pay and end with, for many worlds at once.

Each rule repeats the arithmetic of one of Gymnasium's classes in the same order, so that numbers agree to the last bit;
weights and limits are read from an environment of that class.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Worlds:
    """What MuJoCo knows of some worlds, the worlds along the first axis; gathered once it is asked for."""

    def __init__(self, data: list[Any]) -> None:
        self._data = data

    def __getattr__(self, name: str) -> Array:
        parts = [getattr(each, name) for each in self._data]
        gathered = np.concatenate(parts).reshape(len(parts), *parts[0].shape)
        setattr(self, name, gathered)
        return gathered


Observe = Callable[[Any, Worlds], Array]
Judge = Callable[[Any, Worlds, Array, Array], tuple[Array, Array]]
"""Reward and termination of an environment's class, after actions that moved the worlds so fast."""


@dataclass(frozen=True)
class Rule:
    """One of Gymnasium's classes."""

    observe: Observe
    judge: Judge
    place: Callable[[Any, Worlds], Array] = lambda _, worlds: worlds.qpos[:, 0]
    """The position whose velocity is paid."""
    forces: bool = False
    """Whether contact forces are read, which MuJoCo computes only when told to."""


def within(limits: tuple[float, float], values: Array) -> Array:
    return (limits[0] < values) & (values < limits[1])


def squares(values: Array) -> Array:
    """The sum of squares of each world."""
    return np.square(values).reshape(len(values), -1).sum(axis=1)


def length(vectors: Array) -> Array:
    return np.sqrt(np.vecdot(vectors, vectors))


def positions_and_velocities(skipped: int, fastest: float | None, _: Any, worlds: Worlds) -> Array:
    """Joints without the first few, which tell where a robot is, and velocities up to a limit."""
    velocity = worlds.qvel if fastest is None else np.clip(worlds.qvel, -fastest, fastest)
    return np.concatenate([worlds.qpos[:, skipped:], velocity], axis=1)


def body(environment: Any, worlds: Worlds, name: str) -> Array:
    return worlds.xpos[:, environment.model.body(name).id]


# Robots that are paid for their speed.


def runner(
    environment: Any,
    worlds: Worlds,
    action: Array,
    velocity: Array,
    healthy: Callable[[Any, Worlds], Array] = lambda _, worlds: np.ones(len(worlds.qpos), bool),
    contact: Callable[[Any, Worlds], Array | float] = lambda _, __: 0.0,
) -> tuple[Array, Array]:
    """Speed, a bonus while the robot stands, less what its motors and its contacts cost."""
    stands, mortal = healthy(environment, worlds), getattr(environment, "_terminate_when_unhealthy", False)
    bonus = stands * getattr(environment, "_healthy_reward", 0.0)
    cost = environment._ctrl_cost_weight * squares(action) + contact(environment, worlds)
    return environment._forward_reward_weight * velocity + bonus - cost, ~stands & mortal


def hopper_healthy(environment: Any, worlds: Worlds) -> Array:
    state = np.concatenate([worlds.qpos, worlds.qvel], axis=1)[:, 2:]
    return within(environment._healthy_state_range, state).all(axis=1) & walker_healthy(environment, worlds)


def walker_healthy(environment: Any, worlds: Worlds) -> Array:
    upright = within(environment._healthy_angle_range, worlds.qpos[:, 2])
    return within(environment._healthy_z_range, worlds.qpos[:, 1]) & upright


def ant_forces(environment: Any, worlds: Worlds) -> Array:
    return np.clip(worlds.cfrc_ext, *environment._contact_force_range)


def ant_contact(environment: Any, worlds: Worlds) -> Array:
    return environment._contact_cost_weight * squares(ant_forces(environment, worlds))


def ant_healthy(environment: Any, worlds: Worlds) -> Array:
    lowest, highest = environment._healthy_z_range
    finite = np.isfinite(worlds.qpos).all(axis=1) & np.isfinite(worlds.qvel).all(axis=1)
    return finite & (lowest <= worlds.qpos[:, 2]) & (worlds.qpos[:, 2] <= highest)


def ant_observation(environment: Any, worlds: Worlds) -> Array:
    forces = ant_forces(environment, worlds)[:, 1:].reshape(len(worlds.qpos), -1)
    return np.concatenate([worlds.qpos[:, 2:], worlds.qvel, forces], axis=1)


def humanoid_observation(environment: Any, worlds: Worlds) -> Array:
    bodies = (worlds.cinert[:, 1:], worlds.cvel[:, 1:], worlds.qfrc_actuator[:, 6:], worlds.cfrc_ext[:, 1:])
    parts = (worlds.qpos[:, 2:], worlds.qvel, *(part.reshape(len(part), -1) for part in bodies))
    return np.concatenate(parts, axis=1)


def humanoid_healthy(environment: Any, worlds: Worlds) -> Array:
    return within(environment._healthy_z_range, worlds.qpos[:, 2])


def humanoid_contact(environment: Any, worlds: Worlds) -> Array:
    return np.clip(environment._contact_cost_weight * squares(worlds.cfrc_ext), *environment._contact_cost_range)


def humanoid(environment: Any, worlds: Worlds, action: Array, velocity: Array) -> tuple[Array, Array]:
    return runner(environment, worlds, worlds.ctrl, velocity, humanoid_healthy, humanoid_contact)


def mass_centre(environment: Any, worlds: Worlds) -> Array:
    masses = environment.model.body_mass
    return np.array([np.einsum("b,bj->j", masses, places)[0] for places in worlds.xipos]) / masses.sum()


def standup(environment: Any, worlds: Worlds, action: Array, velocity: Array) -> tuple[Array, Array]:
    height = worlds.qpos[:, 2] / environment.model.opt.timestep
    impact = np.clip(environment._impact_cost_weight * squares(worlds.cfrc_ext), *environment._impact_cost_range)
    reward = height - environment._ctrl_cost_weight * squares(worlds.ctrl) - impact + 1
    return reward, np.zeros(len(reward), bool)


# Pendulums and arms.


def pendulum(environment: Any, worlds: Worlds, action: Array, velocity: Array) -> tuple[Array, Array]:
    observation = positions_and_velocities(0, None, environment, worlds)
    fallen = ~np.isfinite(observation).all(axis=1) | (np.abs(observation[:, 1]) > 0.2)
    return (~fallen).astype(float), fallen


def double_pendulum_observation(environment: Any, worlds: Worlds) -> Array:
    angles = worlds.qpos[:, 1:].copy()
    limited = np.clip(worlds.qvel, -10, 10), np.clip(worlds.qfrc_constraint, -10, 10)[:, :1]
    return np.concatenate([worlds.qpos[:, :1], np.sin(angles), np.cos(angles), *limited], axis=1)


def double_pendulum(environment: Any, worlds: Worlds, action: Array, velocity: Array) -> tuple[Array, Array]:
    x, _, y = worlds.site_xpos[:, 0].T
    first, second = worlds.qvel[:, 1:3].T
    fallen = y <= 1
    away = 0.01 * x**2 + (y - 2) ** 2
    fast = 1e-3 * first**2 + 5e-3 * second**2
    return environment._healthy_reward * ~fallen - away - fast, fallen


def reacher_observation(environment: Any, worlds: Worlds) -> Array:
    angles = worlds.qpos[:, :2].copy()
    away = (body(environment, worlds, "fingertip") - body(environment, worlds, "target"))[:, :2]
    return np.concatenate([np.cos(angles), np.sin(angles), worlds.qpos[:, 2:], worlds.qvel[:, :2], away], axis=1)


def reacher(environment: Any, worlds: Worlds, action: Array, velocity: Array) -> tuple[Array, Array]:
    away = length(body(environment, worlds, "fingertip") - body(environment, worlds, "target"))
    reward = -away * environment._reward_dist_weight - squares(action) * environment._reward_control_weight
    return reward, np.zeros(len(reward), bool)


def pusher_observation(environment: Any, worlds: Worlds) -> Array:
    bodies = (body(environment, worlds, name) for name in ("tips_arm", "object", "goal"))
    return np.concatenate([worlds.qpos[:, :7], worlds.qvel[:, :7], *bodies], axis=1)


def pusher(environment: Any, worlds: Worlds, action: Array, velocity: Array) -> tuple[Array, Array]:
    tip, pushed, goal = (body(environment, worlds, name) for name in ("tips_arm", "object", "goal"))
    away = -length(pushed - goal) * environment._reward_dist_weight
    effort = -squares(action) * environment._reward_control_weight
    reward = away + effort - length(pushed - tip) * environment._reward_near_weight
    return reward, np.zeros(len(reward), bool)


RULES = {
    "hopper_v5:HopperEnv": Rule(partial(positions_and_velocities, 1, 10), partial(runner, healthy=hopper_healthy)),
    "walker2d_v5:Walker2dEnv": Rule(partial(positions_and_velocities, 1, 10), partial(runner, healthy=walker_healthy)),
    "half_cheetah_v5:HalfCheetahEnv": Rule(partial(positions_and_velocities, 1, None), runner),
    "swimmer_v5:SwimmerEnv": Rule(partial(positions_and_velocities, 2, None), runner),
    "ant_v5:AntEnv": Rule(
        ant_observation,
        partial(runner, healthy=ant_healthy, contact=ant_contact),
        lambda environment, worlds: body(environment, worlds, environment._main_body)[:, 0],
        forces=True,
    ),
    "humanoid_v5:HumanoidEnv": Rule(humanoid_observation, humanoid, mass_centre, forces=True),
    "humanoidstandup_v5:HumanoidStandupEnv": Rule(humanoid_observation, standup, forces=True),
    "inverted_pendulum_v5:InvertedPendulumEnv": Rule(partial(positions_and_velocities, 0, None), pendulum),
    "inverted_double_pendulum_v5:InvertedDoublePendulumEnv": Rule(double_pendulum_observation, double_pendulum),
    "reacher_v5:ReacherEnv": Rule(reacher_observation, reacher),
    "pusher_v5:PusherEnv": Rule(pusher_observation, pusher),
}
"""By entry point, after `gymnasium.envs.mujoco.`."""

"""Steps per second of the batched MuJoCo backend against Gymnasium's AsyncVectorEnv, side by side.

    python benchmarks/mujoco_backend.py [--seconds 4]

Both run the same environments with the same random actions. AsyncVectorEnv is given 8, 16 and 64 processes
and its best figure counts; the backend runs 64 environments.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial

import gymnasium as gym
import numpy as np
from gymnasium.vector import AsyncVectorEnv

from diprl.tasks.mujoco import DESCRIPTIONS
from diprl.tasks.mujoco.description import Description
from diprl.tasks.mujoco.environment import MujocoEnvironments

BATCH = 64
PROCESSES = (8, 16, 64)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=4.0, help="how long each measurement runs")
    seconds = parser.parse_args().seconds
    print(f"{'environment':<20}{'backend/s':>12}{'async/s':>12}{'processes':>11}{'ratio':>8}")
    for description in DESCRIPTIONS.values():
        own = backend_speed(description, seconds)
        best, processes = max((async_speed(description, count, seconds), count) for count in PROCESSES)
        print(f"{description.name:<20}{own:>12,.0f}{best:>12,.0f}{processes:>11}{own / best:>8.2f}")


def backend_speed(description: Description, seconds: float) -> float:
    environments = MujocoEnvironments(description, lambda view: view.astype(np.float32), BATCH)
    environments.reset(seed=0)
    speed = steps_per_second(environments.step, BATCH, description, seconds)
    environments.close()
    return speed


def async_speed(description: Description, count: int, seconds: float) -> float:
    make = partial(gym.make, f"diprl.tasks.mujoco:diprl/{description.name}-v0", disable_env_checker=True)
    environments = AsyncVectorEnv([make] * count, context="forkserver")
    environments.reset(seed=0)
    speed = steps_per_second(environments.step, count, description, seconds)
    environments.close()
    return speed


def steps_per_second(
    step: Callable[[np.ndarray], object], count: int, description: Description, seconds: float
) -> float:
    """Warm up, then count environment steps until the time is up."""
    rng = np.random.default_rng(0)
    limit = description.action_limit
    actions = rng.uniform(-limit, limit, (32, count, description.action_size)).astype(np.float32)
    for warm in actions[:5]:
        step(warm)
    steps, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        step(actions[steps % len(actions)])
        steps += 1
    return steps * count / (time.perf_counter() - began)


if __name__ == "__main__":
    main()

"""Tuned settings: what the paper used, and what works better here, per task where a task wants its own.

Every value was chosen on training seeds from 1000 up; reported seeds and evaluation episodes were never looked at.
"""

from typing import Any

from diprl.errors import unknown
from diprl.train.config import Config

PAPER = Config(
    num_envs=8,
    num_steps=512,
    minibatch_size=64,
    num_epochs=10,
    max_depth=6,
    architecture_period=5,
    normalise=False,
    learning_rate=1e-3,
    learning_rate_end=1e-3,
    clip_range=0.1,
    clip_range_end=0.0,
    entropy_coefficient=0.01,
    entropy_coefficient_end=0.01,
    alpha_ramp=0.0,
    alpha_dual=1e-4,
    target_entropy=0.1,
    architecture_temperature_end=1.0,
    condition_temperature_end=1.0,
)
"""The paper's section on experiments and its release: alternating phases, dual ascent, constant temperatures."""

DEFAULT = Config(learning_rate=5e-3)
"""A sound start for an environment nobody has tuned."""

SWING_UP: dict[str, Any] = {"learning_rate": 1e-2, "gae_lambda": 0.9, "entropy_coefficient": 0.03}
DOOR_KEY: dict[str, Any] = {"learning_rate": 3e-3, "entropy_coefficient": 0.05, "gamma": 0.97, "max_depth": 8}

TUNED: dict[str, dict[str, Any]] = {
    "CartPole-v1": {"total_timesteps": 400_000, "num_steps": 64, "learning_rate": 1e-2},
    "Acrobot-v1": SWING_UP,
    "MountainCar-v0": SWING_UP,
    "DoorKey-5x5": DOOR_KEY,
    "DoorKey-6x6": DOOR_KEY,
    "DoorKey-8x8": DOOR_KEY,
    "LunarLander-v3": {"learning_rate": 5e-3, "gamma": 0.995},
}

PRESETS = ("default", "paper")


def preset(name: str, task: str, budget: int) -> Config:
    """The settings of a preset for a task, with the task's own budget unless a tuned one is enough."""
    if name == "paper":
        return PAPER.with_values(total_timesteps=budget)
    if name == "default":
        return DEFAULT.with_values(**({"total_timesteps": budget} | TUNED.get(task, {})))
    raise unknown("preset", name, PRESETS)

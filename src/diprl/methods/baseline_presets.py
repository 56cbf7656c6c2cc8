"""Settings of the baselines: as published, and tuned here as far as each method goes.

Tuned values were chosen on training seeds from 1000 up; reported seeds and evaluation episodes were never looked at.
"""

from typing import Any

from diprl.errors import unknown
from diprl.methods import presets
from diprl.methods.presets import PAPER, PRESETS
from diprl.train.config import Config

PerTask = dict[str, dict[str, Any]]

PPO_DEFAULT = Config(learning_rate=1e-3)
"""A sound start for an environment nobody has tuned."""
PPO_TUNED: PerTask = {}

NO_REGULARISER: dict[str, Any] = {
    "alpha": 0.0,
    "alpha_ramp": 0.0,
    "alpha_dual": 0.0,
    "architecture_temperature_end": 1.0,
    "condition_temperature_end": 1.0,
    "settle_temperature": 1.0,
    "architecture_period": 5,
}
"""What makes DiPRL's training that of pi-PRL: no pull towards one shape, soft conditions, alternating phases."""

TREE_DEFAULT = Config(learning_rate=5e-3)
TREE_TUNED: PerTask = {}

TREE_PUBLISHED: PerTask = {
    "CartPole-v1": {
        "max_depth": 4, "learning_rate": 0.024, "num_steps": 104, "minibatch_size": 32, "num_epochs": 20,
        "gae_lambda": 0.86, "entropy_coefficient": 0.02, "entropy_coefficient_end": 0.02,
    },
    "Acrobot-v1": {
        "max_depth": 4, "learning_rate": 0.045, "num_steps": 128, "minibatch_size": 64, "num_epochs": 16,
        "gae_lambda": 0.80, "entropy_coefficient": 0.01, "entropy_coefficient_end": 0.01, "max_grad_norm": 0.52,
    },
    "LunarLander-v3": {
        "max_depth": 5, "learning_rate": 0.02, "num_steps": 256, "minibatch_size": 64, "num_epochs": 10,
        "gae_lambda": 0.90, "entropy_coefficient": 0.01, "entropy_coefficient_end": 0.01,
    },
}  # fmt: skip
"""DTSemNet's own settings, its single environment spread over eight with rollouts of the same size."""
AS_PUBLISHED: dict[str, Any] = {"num_envs": 8, "normalise": False, "clip_range_end": 0.2}


def ppo(name: str, task: str, budget: int) -> Config:
    """The paper's settings, or those that make a strong reference."""
    return choose(name, PAPER, PPO_DEFAULT.with_values(**PPO_TUNED.get(task, {})), budget)


def pi_prl(name: str, task: str, budget: int) -> Config:
    """DiPRL's settings without its regulariser."""
    return presets.preset(name, task, budget).with_values(**NO_REGULARISER)


def dtsemnet(name: str, task: str, budget: int) -> Config:
    """The settings of the method's authors where they gave some, or ours."""
    published = TREE_PUBLISHED.get(task)
    paper = PAPER if published is None else as_published(published)
    return choose(name, paper, TREE_DEFAULT.with_values(**TREE_TUNED.get(task, {})), budget)


def as_published(settings: dict[str, Any]) -> Config:
    return Config(**AS_PUBLISHED | settings | {"learning_rate_end": settings["learning_rate"]})


def choose(name: str, paper: Config, default: Config, budget: int) -> Config:
    """The preset of this name, through the task's budget."""
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    return (paper if name == "paper" else default).with_values(total_timesteps=budget)

"""Settings of the baselines: as published, and tuned here as far as each method goes.

Tuned values were chosen on training seeds from 1000 up; reported seeds and evaluation episodes were never looked at.
"""

from typing import Any

from diprl.errors import unknown
from diprl.methods import presets
from diprl.methods.presets import PAPER, PRESETS
from diprl.train.config import Config

Settings = dict[str, Any]
ANTS = ("AntRandomGoal", "AntCrossMaze", "AntRandomGoal-return", "AntCrossMaze-return")

NETWORK: Settings = {"learning_rate": 1e-3}
"""A sound start for neural PPO on an environment nobody has tuned."""
MOTORS: Settings = {
    "num_envs": 64,
    "minibatch_size": 1024,
    "num_epochs": 5,
    "learning_rate": 3e-4,
    "entropy_coefficient": 0.0,
    "scale_rewards": True,
}
"""What moving a robot's motors wants: many samples per step, returns of one size, no bonus for noise."""
NETWORK_TUNED: dict[str, Settings] = {
    "CartPole-v1": {"total_timesteps": 500_000},
    "Acrobot-v1": {"learning_rate": 3e-3},
    "MountainCar-v0": {"learning_rate": 3e-3},
    **{f"DoorKey-{size}": {"total_timesteps": 1_000_000} for size in ("5x5", "6x6")},
    "LunarLander-v3": {"gamma": 0.998, "scale_rewards": True, "minibatch_size": 512},
    "HalfCheetahHurdle": MOTORS,
    "Pusher2D": MOTORS | {"num_envs": 32, "num_steps": 100, "minibatch_size": 400, "num_epochs": 10},
    **dict.fromkeys(ANTS, MOTORS),
}

NO_REGULARISER: Settings = {
    "alpha": 0.0,
    "alpha_ramp": 0.0,
    "alpha_dual": 0.0,
    "architecture_temperature_end": 1.0,
    "condition_temperature_end": 1.0,
    "settle_temperature": 1.0,
    "settle_terminals": 1.0,
    "architecture_period": 5,
    "polish_share": 0.0,
}
"""What makes DiPRL's training that of pi-PRL: no pull towards one shape, soft conditions, alternating phases."""

TREE: Settings = {"learning_rate": 5e-3}
"""A sound start for DTSemNet."""
TREE_TUNED: dict[str, Settings] = {
    "CartPole-v1": {"total_timesteps": 1_000_000, "max_depth": 4},
    "Acrobot-v1": {"max_depth": 4},
    "LunarLander-v3": {"max_depth": 5, "gamma": 0.995},
    **{robot: presets.TUNED[robot] for robot in ("HalfCheetahHurdle", "Pusher2D", *ANTS)},
}
"""The published heights. The rest of the published settings keeps the step size up to the end, where it does harm."""
TREE_PUBLISHED: dict[str, Settings] = {
    "CartPole-v1": {
        "max_depth": 4, "learning_rate": 0.024, "num_steps": 104, "minibatch_size": 32, "num_epochs": 20,
        "gae_lambda": 0.86, "entropy_coefficient": 0.02,
    },
    "Acrobot-v1": {
        "max_depth": 4, "learning_rate": 0.045, "num_steps": 128, "minibatch_size": 64, "num_epochs": 16,
        "gae_lambda": 0.80, "entropy_coefficient": 0.01, "max_grad_norm": 0.52,
    },
    "LunarLander-v3": {
        "max_depth": 5, "learning_rate": 0.02, "num_steps": 256, "minibatch_size": 64, "num_epochs": 10,
        "gae_lambda": 0.90, "entropy_coefficient": 0.01,
    },
}  # fmt: skip
"""DTSemNet's own settings, its single environment spread over eight with rollouts of the same size."""


def ppo(name: str, task: str, budget: int) -> Config:
    """The paper's settings, or those that make a strong reference."""
    return choose(name, PAPER, NETWORK | NETWORK_TUNED.get(task, {}), budget)


def pi_prl(name: str, task: str, budget: int) -> Config:
    """DiPRL's settings without its regulariser, and with the paper's choice of depths where DiPRL needs fewer."""
    settings = presets.preset(name, task, budget)
    return settings.with_values(**NO_REGULARISER, max_depth=max(settings.max_depth, PAPER.max_depth))


def dtsemnet(name: str, task: str, budget: int) -> Config:
    """The settings of the method's authors where they gave some, or ours."""
    published = TREE_PUBLISHED.get(task)
    paper = as_published(published) if published else PAPER
    return choose(name, paper, TREE | TREE_TUNED.get(task, {}), budget)


def as_published(settings: Settings) -> Config:
    """Raw observations, and nothing that changes over the run."""
    constant = {f"{name}_end": settings[name] for name in ("learning_rate", "entropy_coefficient")}
    return Config(num_envs=8, normalise=False, clip_range_end=0.2, **settings, **constant)


def choose(name: str, paper: Config, tuned: Settings, budget: int) -> Config:
    """The preset of this name; a tuned one may need less than the task's budget."""
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    whole: Settings = {"total_timesteps": budget}
    chosen = paper.with_values(**whole) if name == "paper" else Config(**whole | tuned)
    return chosen.with_values(polish_share=0.0)

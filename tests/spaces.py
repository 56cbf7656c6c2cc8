"""Environments whose spaces no program can serve."""

from typing import Any

import gymnasium as gym
import numpy as np


class Talk(gym.Env[Any, Any]):
    """Wants text."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = gym.spaces.Text(10)


class Words(gym.Env[Any, Any]):
    """Shows text."""

    observation_space = gym.spaces.Text(10)
    action_space = gym.spaces.Discrete(2)


gym.register("Talk-v0", Talk)
gym.register("Words-v0", Words)

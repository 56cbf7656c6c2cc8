"""An environment of one's own: a tank that must neither overflow nor run dry."""

from typing import Any

import gymnasium as gym
import numpy as np


class Tank(gym.Env[Any, Any]):
    """Water flows in; an open valve lets more out. Each step within the marks earns one."""

    observation_space = gym.spaces.Box(0.0, 2.0, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.level = float(self.np_random.uniform(0.9, 1.1))
        return np.array([self.level], np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.level += 0.05 - 0.1 * int(action)
        inside = 0.5 < self.level < 1.5
        return np.array([self.level], np.float32), float(inside), not inside, False, {}


gym.register("studio/Tank-v0", Tank, max_episode_steps=50)

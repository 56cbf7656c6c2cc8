"""A water tank: rain fills it at a changing rate, and a pump has to keep the level near one metre."""

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np


class Tank(gym.Env):
    """Two numbers are measured, the level and the inflow; the pump is off or on."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 20}

    def __init__(self, pump: float = 0.2, render_mode: str | None = None) -> None:
        self.observation_space = gym.spaces.Box(np.array([0.0, 0.0]), np.array([2.0, 0.2]), dtype=np.float64)
        self.action_space = gym.spaces.Discrete(2)
        self.pump, self.render_mode = pump, render_mode

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.level, self.inflow = self.np_random.uniform(0.5, 1.5), self.np_random.uniform(0.02, 0.18)
        return np.array([self.level, self.inflow]), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.level = np.clip(self.level + self.inflow - self.pump * action, 0.0, 2.0)
        self.inflow = np.clip(self.inflow + self.np_random.normal(0.0, 0.02), 0.0, 0.2)
        spilt = bool(self.level in (0.0, 2.0))
        return np.array([self.level, self.inflow]), -100.0 if spilt else 1.0 - abs(self.level - 1.0), spilt, False, {}

    def render(self) -> Any:
        picture = np.full((120, 160, 3), 245, np.uint8)
        picture[round(110 - 50 * self.level) : 110, 40:120] = (70, 130, 200)
        return picture

"""Environments that count, and ones that misbehave; free of JAX, so that worker processes start fast."""

import os
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray


class Counter(gym.Env[NDArray[np.float32], int]):
    """Shows a number drawn for the episode and the steps made; pays the steps made, ends after `end`."""

    observation_space = gym.spaces.Box(0.0, np.inf, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, end: int = 3, render_mode: str | None = None) -> None:
        self.end, self.render_mode = end, render_mode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.drawn, self.count = self.np_random.random(), 0
        return self._observation(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.count += 1
        info = {"distance": 10.0 * self.count, "is_success": self.count == self.end}
        return self._observation(), float(self.count), self.count >= self.end, False, info

    def _observation(self) -> NDArray[np.float32]:
        return np.array([self.drawn, self.count], np.float32)


class Faulty(Counter):
    """A counter whose third step goes wrong in the way that `fault` names."""

    def __init__(self, fault: str, render_mode: str | None = None) -> None:
        super().__init__(end=100)
        self.fault = fault

    def step(self, action: int) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = super().step(action)
        if self.count < 3:
            return observation, reward, terminated, truncated, info
        faults: dict[str, Callable[[], tuple[Any, Any]]] = {
            "raises": lambda: 1 // 0,  # type: ignore[return-value]
            "dies": lambda: os.kill(os.getpid(), 9),
            "hangs": lambda: time.sleep(60),  # type: ignore[return-value]
            "nan observation": lambda: (observation * np.nan, reward),
            "infinite reward": lambda: (observation, np.inf),
            "wrong shape": lambda: (observation[:1], reward),
            "wrong type": lambda: (np.array(["a", "b"]), reward),
            "no reward": lambda: (observation, None),
        }
        return *faults[self.fault](), terminated, truncated, info

"""An environment that talks: to standard output, from Python and from below it."""

import os

import gymnasium as gym
import numpy as np


class Noisy(gym.Env):
    """Prints at every reset and step."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (1,))
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        print("reset {")
        self.left = 5
        return np.zeros(1, np.float32), {}

    def step(self, action):
        os.write(1, b"step {\n")
        self.left -= 1
        return np.zeros(1, np.float32), float(action), self.left == 0, False, {}


gym.register("Noisy-v0", entry_point=Noisy)

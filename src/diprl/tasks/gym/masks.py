"""Actions that an environment forbids for the moment, by `info["action_mask"]` as Taxi does."""

from typing import Any

import gymnasium as gym
import numpy as np

from diprl.tasks.gym.spaces import actions_of


class Masked(gym.Wrapper[Any, Any, Any, Any]):
    """Takes the next allowed action, in their order and from the last to the first, instead of a forbidden one.

    So a forbidden action never reaches the environment, in training or when a program is scored. Code that runs the
    program elsewhere must do the same.
    """

    def __init__(self, environment: gym.Env[Any, Any]) -> None:
        super().__init__(environment)
        self.count = len(actions_of(environment.action_space).names)
        self.allowed: np.ndarray | None = None

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        begun = self.env.reset(**options)
        self.allowed = self.mask(begun[-1])
        return begun

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        step = self.env.step(action if self.allowed is None else next_allowed(int(action), self.allowed))
        self.allowed = self.mask(step[-1])
        return step

    def mask(self, info: Any) -> np.ndarray | None:
        """One truth value for each action; whatever else has that name was not meant for us."""
        mask = info.get("action_mask") if isinstance(info, dict) else None
        return mask if isinstance(mask, np.ndarray) and mask.shape == (self.count,) else None


def next_allowed(action: int, allowed: np.ndarray) -> int:
    """The action itself if it is allowed, or if the mask allows none; else the next one that is.

    >>> next_allowed(4, np.array([0, 1, 1, 0, 0, 0]))
    1
    """
    after = [*range(action, len(allowed)), *range(action)]
    return next((each for each in after if allowed[each]), action)

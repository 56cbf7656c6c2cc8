"""Forbidden actions: they never reach the environment, and what is allowed does as it is."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from tests.small import small_session, small_settings

from diprl.methods.registry import run
from diprl.tasks.gym.spaces import Masked, next_allowed
from diprl.tasks.registry import load_task


class Corridor(gym.Env[Any, Any]):
    """Steps left, stay or right in −2 … 2; raises where somebody walks into an end."""

    observation_space = spaces.Box(-2.0, 2.0, (1,), np.float32)

    def __init__(self, start: int = 0) -> None:
        self.action_space, self.start = spaces.Discrete(3, start=start), start

    def told(self) -> tuple[Any, dict[str, Any]]:
        mask = np.array([self.place > -2, True, self.place < 2], np.int8)
        return np.array([self.place], np.float32), {"action_mask": mask}

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.steps = int(self.np_random.integers(-2, 3)), 0
        return self.told()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        move = int(action) - self.start - 1
        self.place, self.steps = self.place + move, self.steps + 1
        assert abs(self.place) <= 2, "into the wall"
        view, info = self.told()
        return view, float(-abs(self.place)), False, self.steps == 10, info


def test_the_next_allowed_action_is_taken() -> None:
    allowed = np.array([0, 1, 0, 1], np.int8)
    assert [next_allowed(action, allowed) for action in range(4)] == [1, 1, 3, 3]
    assert next_allowed(2, np.array([1, 0, 0, 0])) == 0
    assert next_allowed(2, np.zeros(4)) == 2


def test_nothing_forbidden_reaches_an_environment_that_counts_from_one() -> None:
    for start in (0, 1):
        environment = load_task(Corridor, env_kwargs={"start": start}).reference()
        environment.reset(seed=0)
        for action in [2] * 8 + [0] * 8:
            environment.step(action)
        assert environment.unwrapped.steps == 16  # type: ignore[attr-defined]


@pytest.mark.parametrize("mask", [np.ones(2), np.ones((3, 1)), (np.ones(3), np.ones(1)), "all", None])
def test_what_is_no_mask_of_the_actions_is_left_alone(mask: Any) -> None:
    environment = Masked(Corridor())
    environment.reset(seed=0)
    assert environment.mask({"action_mask": mask}) is None
    assert environment.mask({}) is None
    assert environment.mask({"action_mask": np.ones(3)}) is not None


def test_training_and_scoring_walk_into_no_wall() -> None:
    task = load_task(Corridor)
    result = run(small_session(task, small_settings(total_timesteps=2048), backend="sync"))
    assert result.score.mean > -20.0  # the worst that can be had

"""Learning without gradients: known sums, a known optimum, the same numbers again, and a run that is continued."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import jax
import numpy as np
import pytest
from tests.small import small_session, small_settings

from diprl.methods.agents import tree_agent
from diprl.policy.base import HARD
from diprl.runs.stage import Stage, Trained
from diprl.runs.trainer import Trainer
from diprl.tasks.registry import load_task
from diprl.train.directions import combined


class Aim(gym.Env[Any, Any]):
    """The best action is 0.8 times the first of two numbers minus 0.3; episodes last five steps."""

    observation_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps, self.seen = 0, self.np_random.uniform(-1, 1, 2).astype(np.float32)
        return self.seen, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        reward = -float((action[0] - 0.8 * self.seen[0] + 0.3) ** 2)
        self.steps, self.seen = self.steps + 1, self.np_random.uniform(-1, 1, 2).astype(np.float32)
        return self.seen, reward, self.steps == 5, False, {}


TASK = load_task(Aim)
SETTINGS = small_settings(max_depth=1, directions=8, deviation=0.05, learning_rate=0.03, total_timesteps=20_480)


def trained(folder: Path | None = None, until: float = 1.0, before: Trained | None = None) -> Trained:
    session = small_session(TASK, SETTINGS, folder=folder, backend="sync")
    stage = Stage("training", SETTINGS, tree_agent, until=until, goes_on=before)
    return Trainer(session).train(stage)


def test_better_directions_are_followed_as_far_as_they_beat_their_opposites() -> None:
    moves = np.eye(4, dtype=np.float32)
    pairs = [(3.0, 1.0, moves[0]), (0.0, 2.0, moves[1]), (-5.0, -9.0, moves[2]), (-7.0, -8.0, moves[3])]
    spread = np.std([3.0, 1.0, 0.0, 2.0])
    np.testing.assert_allclose(combined(pairs), np.array([2.0, -2.0, 0.0, 0.0]) / (2 * spread), rtol=1e-6)


def test_a_known_optimum_is_found_and_found_again() -> None:
    first, second = trained(), trained()
    score = first.player.score(first.state, first.temperatures, HARD, 50)
    assert score.mean > -0.1  # an untrained controller earns about −1.5
    assert jax.tree.all(jax.tree.map(np.array_equal, first.state.vector, second.state.vector))
    assert first.steps == SETTINGS.ppo.num_timesteps


@pytest.mark.parametrize("until", [0.5])
def test_a_training_that_pauses_goes_on(until: float) -> None:
    half = trained(until=until)
    whole = trained(before=half)
    assert half.steps == SETTINGS.ppo.num_timesteps // 2
    assert whole.player.score(whole.state, whole.temperatures, HARD, 50).mean > -0.1

"""Rare rewards: before the first of them nothing is learnt from noise, and the entropy bonus keeps exploring."""

import jax.random as jr
import numpy as np
from tests.small import small_settings

from diprl.methods.agents import tree_agent
from diprl.tasks.registry import load_task
from diprl.train.minibatches import SMALL, standardised


def test_small_advantages_stay_small_and_large_ones_have_deviation_one() -> None:
    noise = np.random.default_rng(0).normal(size=(1, 512)).astype(np.float32)
    assert np.isclose(np.std(standardised(0.01 * noise)), 1.0, atol=1e-3)
    assert np.isclose(np.std(standardised(0.01 * noise, SMALL)), 0.01 / SMALL * noise.std(), rtol=1e-3)
    assert np.isclose(np.std(standardised(5.0 * noise, SMALL)), 1.0, atol=1e-3)
    assert not np.any(standardised(np.zeros((1, 8), np.float32), SMALL))


def test_a_quiet_critic_begins_at_zero() -> None:
    task = load_task("FrozenLake-v1")
    views = np.eye(16, dtype=np.float32)
    for quiet in (False, True):
        agent = tree_agent(task, small_settings(quiet=quiet), key=jr.key(0))
        assert np.any(agent.value(agent.see(views))) != quiet

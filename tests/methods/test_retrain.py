"""Training on from a program: it begins as that program."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from tests.improve.programs import CART_POLE, WORDY

from diprl.improve.visits import visited_views
from diprl.methods.agents import tree_agent
from diprl.methods.registry import settings_for
from diprl.methods.retrain import continue_from, embedded
from diprl.policy.base import HARD, Temperatures
from diprl.train.evaluate import program_act


def test_training_begins_with_the_very_program():
    config = settings_for("diprl", "default", CART_POLE).with_values(max_depth=6)
    agent = embedded(CART_POLE, WORDY, config, tree_agent(CART_POLE, config, key=jr.key(0)))
    views = visited_views(CART_POLE, WORDY)
    noise = jnp.zeros((len(views), agent.policy.noise_size))
    act = jax.vmap(lambda view, uniform: agent.act(view, uniform, Temperatures(), HARD))
    assert np.array_equal(np.asarray(act(views, noise)), program_act(CART_POLE, WORDY)(views))


def test_a_program_longer_than_the_preset_allows_trains_on():
    assert settings_for("diprl", "default", CART_POLE).max_depth < WORDY.depth
    continued = continue_from(CART_POLE, WORDY, 20_000, seed=0)
    assert continued.signature == WORDY.signature
    assert continued.depth <= WORDY.depth
    assert continued != WORDY

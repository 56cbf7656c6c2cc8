"""The entropy over features: its value, its gradient, and weights that are zero for good."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from tests.small import first_training_state, small_settings

from diprl.methods.agents import tree_agent
from diprl.methods.presets import settings_for
from diprl.policy.derivation_tree import DerivationTree
from diprl.tasks.registry import load_task
from diprl.train.sparsity import excess_entropy, feature_entropy, is_due, linear_maps, penalty_weight, shares, support

CART_POLE, PENDULUM = load_task("CartPole-v1"), load_task("Pendulum-v1")


def agent_for(task):
    return tree_agent(task, settings_for("diprl", "default", task), key=jr.key(0))


def test_the_entropy_is_that_of_the_shares():
    agent = agent_for(CART_POLE)
    weights = np.abs(np.asarray(agent.policy.condition_weights, np.float64))
    parts = weights / weights.sum(axis=1, keepdims=True)
    assert float(feature_entropy(agent)) == pytest.approx(-(parts * np.log(parts)).sum(), rel=1e-5)


def test_outputs_of_affine_terminals_count_too():
    maps = linear_maps(agent_for(PENDULUM))
    assert [each.shape[-1] for each in maps] == [3, 3]
    assert len(maps[1].shape) == 3


def test_the_gradient_moves_shares_apart():
    weights = jnp.array([[3.0, 1.0]])
    gradient = jax.grad(lambda w: -jnp.sum(shares(w) * jnp.log(shares(w))))(weights)
    assert gradient[0, 0] < 0 < gradient[0, 1], "descending it enlarges the large and shrinks the small"


def test_the_entropy_counts_while_conditions_read_more_features_than_enough():
    agent = agent_for(CART_POLE)
    rows = np.abs(np.asarray(agent.policy.condition_weights, np.float64))
    parts = rows / rows.sum(axis=1, keepdims=True)
    read = np.exp(-(parts * np.log(parts)).sum(axis=1)).mean()
    assert 1.0 < read < 4.0
    assert float(excess_entropy(agent, read - 0.01)) == float(feature_entropy(agent))
    assert float(excess_entropy(agent, read + 0.01)) == 0.0
    gradient = jax.grad(lambda policy: excess_entropy(replace(agent, policy=policy), read + 0.01))(agent.policy)
    assert not gradient.condition_weights.any(), "what reads few enough is left alone"


@pytest.mark.parametrize(("enough", "fewest", "most"), [(0.0, 1.0, 1.2), (3.0, 2.5, 3.2)])
def test_training_stops_at_enough_features(enough, fewest, most):
    values = {"feature_entropy": 0.5, "enough_features": enough, "architecture_from": 0.0, "architecture_to": 0.0}
    settings = small_settings(**values, support_at=1.0, max_depth=4, learning_rate=0.01)
    engine, state = first_training_state(CART_POLE, settings, 0, tree_agent)
    for _ in range(40):
        state, _ = engine.compiled_iteration(state, settings.numbers(), np.float32(80))
    parts = np.asarray(shares(engine.agent(state).policy.condition_weights)) + 1e-12
    assert fewest <= np.exp(-(parts * np.log(parts)).sum(axis=1)).mean() <= most


def test_the_penalty_ends_when_small_shares_are_removed():
    numbers = settings_for("diprl", "default", CART_POLE, feature_entropy=0.01, support_at=0.5).numbers()
    assert float(penalty_weight(numbers, 0.0)) == 0.0
    assert 0.0 < float(penalty_weight(numbers, 0.49)) <= 0.01
    assert float(penalty_weight(numbers, 0.51)) == 0.0
    assert [bool(is_due(numbers, progress)) for progress in (0.49, 0.5, 0.54, 0.56)] == [False, True, True, False]


def test_small_shares_go_and_required_features_stay():
    agent = agent_for(CART_POLE)
    tree = agent.policy
    assert isinstance(tree, DerivationTree)
    numbers = settings_for("diprl", "default", CART_POLE, smallest_share=0.99).numbers()
    assert not support(agent, numbers).policy.condition_weights.any()
    kept = support(agent, numbers, required=(1,)).policy.condition_weights
    assert kept[:, 1].all()
    assert not kept[:, 0].any()


@pytest.mark.parametrize("share", [0.05, 0.4])
def test_removed_weights_stay_zero_while_the_rest_trains(share):
    settings = small_settings(feature_entropy=0.01, support_at=0.0, smallest_share=share, max_depth=4)
    engine, state = first_training_state(CART_POLE, settings, 0, tree_agent)
    before = np.asarray(engine.agent(state).policy.condition_weights)
    seen = []
    for _ in range(4):
        state, _ = engine.compiled_iteration(state, settings.numbers(), np.float32(4))
        seen.append(np.asarray(engine.agent(state).policy.condition_weights))
    zero = seen[0] == 0.0
    assert zero.any() == (share == 0.4)
    assert all((each[zero] == 0.0).all() for each in seen)
    assert (seen[-1][~zero] != before[~zero]).all()


def test_a_forbidden_feature_is_never_read():
    task = replace(CART_POLE, forbidden=(0, 2))
    tree = tree_agent(task, settings_for("diprl", "default", task), key=jr.key(0)).policy
    assert isinstance(tree, DerivationTree)
    assert tree.keeps_zeros
    assert not tree.condition_weights[:, jnp.array([0, 2])].any()
    assert tree.condition_weights[:, jnp.array([1, 3])].all()

"""DTSemNet's network against the hard tree that it stands for."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diprl.policy.base import HARD, SOFT, State, Temperatures
from diprl.policy.dtsemnet import ActionLeaves, DTSemNet, Leaves, make_dtsemnet, straight_through
from diprl.policy.terminals import AffineTerminals, BlendTerminals

FEATURES, NO_PRIMITIVES, NO_MEANING = 3, jnp.zeros((0, 0)), Temperatures()


def tree_of(height: int, leaves: Leaves, seed: int) -> DTSemNet:
    return make_dtsemnet(FEATURES, height, leaves, key=jr.key(seed))


def margins_of(tree: DTSemNet, features: np.ndarray | jax.Array) -> np.ndarray:
    """The value of each test, on the numbers that the network has."""
    return np.asarray(tree.condition_weights @ features + tree.condition_bias)


def reached_leaf(tree: DTSemNet, margins: np.ndarray) -> int:
    """Walk down the hard tree, one test at a time."""
    node = 0
    while node < tree.conditions:
        node = 2 * node + (2 if margins[node] > 0 else 1)
    return node - tree.conditions


def published_scores(tree: DTSemNet, features: np.ndarray) -> np.ndarray:
    """z_l as the paper writes it: relu of the tests on the path, both units of every test off it."""
    margins = margins_of(tree, features).astype(np.float64)
    scores = np.full(tree.conditions + 1, np.abs(margins).sum())
    for leaf in range(len(scores)):
        node = leaf + tree.conditions
        while node > 0:
            parent, holds = (node - 1) // 2, node % 2 == 0
            scores[leaf] -= max(-margins[parent] if holds else margins[parent], 0.0)
            node = parent
    return scores


@pytest.mark.parametrize(("height", "actions"), [(1, 2), (3, 2), (3, 5), (6, 4), (6, 7)])
def test_the_likeliest_action_is_that_of_the_hard_tree(height: int, actions: int) -> None:
    tree = tree_of(height, ActionLeaves(actions), seed=height)
    inputs = np.random.default_rng(height).normal(size=(2000, FEATURES)).astype(np.float32)

    @jax.jit
    @jax.vmap
    def ask(features: jax.Array) -> tuple[jax.Array, ...]:
        soft, hard = (
            tree.distribution(State(features, NO_PRIMITIVES), NO_MEANING, how).probabilities  # type: ignore[union-attr]
            for how in (SOFT, HARD)
        )
        margins = tree.condition_weights @ features + tree.condition_bias
        return margins, jnp.argmax(soft), jnp.argmax(hard)

    margins, soft, hard = map(np.asarray, ask(inputs))
    expected = np.array([reached_leaf(tree, row) for row in margins]) % actions
    np.testing.assert_array_equal(soft, expected)
    np.testing.assert_array_equal(hard, expected)
    assert len(set(expected)) > 1


@settings(max_examples=25)
@given(seed=st.integers(0, 2**16), height=st.integers(1, 4))
def test_leaves_score_as_published_up_to_a_shift(seed: int, height: int) -> None:
    tree = tree_of(height, ActionLeaves(2), seed)
    features = np.random.default_rng(seed).normal(size=FEATURES).astype(np.float32)
    published = published_scores(tree, features)
    np.testing.assert_allclose(tree.leaf_scores(jnp.asarray(features)), published - published.max(), atol=1e-5)


def test_a_test_that_is_exactly_zero_fails() -> None:
    leaves = ActionLeaves(2)
    tree = DTSemNet(jnp.zeros((0, 2)), jnp.zeros((7, FEATURES)), jnp.zeros(7), leaves)
    assert int(jnp.argmax(tree.leaf_scores(jnp.ones(FEATURES)))) == 0


def test_straight_through_is_hard_forwards_and_soft_backwards() -> None:
    scores, direction = jnp.array([-1.0, 0.0, -0.3]), jnp.array([0.2, -1.0, 0.7])
    np.testing.assert_array_equal(straight_through(scores), [0.0, 1.0, 0.0])
    hard_gradient = jax.grad(lambda s: straight_through(s) @ direction)(scores)
    soft_gradient = jax.grad(lambda s: jax.nn.softmax(s) @ direction)(scores)
    np.testing.assert_allclose(hard_gradient, soft_gradient, rtol=1e-6)


def test_an_affine_tree_uses_the_controller_and_the_deviation_of_the_leaf_it_reaches() -> None:
    weights, bias = jr.normal(jr.key(1), (8, 2, FEATURES)), jr.normal(jr.key(2), (8, 2))
    log_std = jnp.linspace(-2.0, 0.0, 16).reshape(8, 2)
    tree = tree_of(3, AffineTerminals(weights, bias, log_std, (1.0, 0.0), (2.0, 0.5)), seed=3)
    features = jnp.array([0.3, -1.2, 0.8])
    leaf = reached_leaf(tree, margins_of(tree, features))
    normal = tree.distribution(State(features, NO_PRIMITIVES), NO_MEANING)
    mean = jnp.array([1.0, 0.0]) + jnp.array([2.0, 0.5]) * (weights[leaf] @ features + bias[leaf])
    np.testing.assert_allclose(normal.means[0], mean, rtol=1e-5)  # type: ignore[union-attr]
    np.testing.assert_allclose(normal.log_std, log_std[leaf] + jnp.log(jnp.array([2.0, 0.5])), rtol=1e-5)  # type: ignore[union-attr]


def test_a_tree_over_primitives_blends_them_by_the_leaf_it_reaches() -> None:
    logits = jr.normal(jr.key(4), (4, 2))
    tree = tree_of(2, BlendTerminals(logits, jnp.zeros((4, 3))), seed=5)
    features, primitives = jnp.array([0.1, 0.4, -0.9]), jr.normal(jr.key(6), (2, 3))
    leaf = reached_leaf(tree, margins_of(tree, features))
    normal = tree.distribution(State(features, primitives), Temperatures(terminal=0.5))
    expected = jax.nn.softmax(logits[leaf] / 0.5) @ primitives
    np.testing.assert_allclose(normal.means[0], expected, rtol=1e-5)  # type: ignore[union-attr]

"""The relaxed program against brute force: every depth, every path, every terminal on its own."""

from dataclasses import replace
from itertools import product
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from numpy.typing import NDArray
from tests.policy.trees import (
    FEATURES,
    KINDS,
    WARM,
    hard_actions,
    random_agent,
    random_terminals,
    random_tree,
    random_views,
)

from diprl.policy.base import SOFT, Hardness, State, Temperatures, entropy
from diprl.policy.derivation_tree import DerivationTree, make_tree
from diprl.policy.distributions import Categorical, Choice, GaussianMixture
from diprl.policy.terminals import LOG_STD_FLOOR, AffineTerminals, BlendTerminals, ChoiceTerminals, DiscreteTerminals

DEPTHS = (1, 2, 5)
PRIMITIVES = np.array([[0.1, 1.0], [-0.4, 0.2], [0.3, -0.9]], np.float32)


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def depth_probabilities(tree: DerivationTree) -> list[float]:
    """p_d by walking the stop/continue choices."""
    choices = softmax(np.asarray(tree.architecture, np.float64) / WARM.architecture)
    probabilities, reached = [], 1.0
    for stop, go_on in choices:
        probabilities.append(reached * stop)
        reached *= go_on
    return [*probabilities, reached]


def paths(tree: DerivationTree, features: NDArray[np.float64]) -> list[tuple[float, int]]:
    """Every way through every program: its probability and the terminal at its end."""
    values = np.asarray(tree.condition_weights, np.float64) @ features + np.asarray(tree.condition_bias)
    gates = 1.0 / (1.0 + np.exp(-values / WARM.condition))
    found = []
    for passed, probability in enumerate(depth_probabilities(tree)):
        for outcomes in product((True, False), repeat=passed):
            first = outcomes.index(True) if True in outcomes else None
            chance = np.prod([g if held else 1.0 - g for g, held in zip(gates, outcomes, strict=False)])
            terminal = first if first is not None else tree.max_depth - 1 + passed
            found.append((probability * float(chance), terminal))
    return found


def density(tree: DerivationTree, index: int, features: NDArray[np.float64], action: NDArray[Any]) -> float:
    """Probability, or density, of an action under one terminal alone."""
    terminals = tree.terminals
    if isinstance(terminals, DiscreteTerminals):
        return float(softmax(np.asarray(terminals.logits[index], np.float64) / WARM.terminal)[int(action)])
    if isinstance(terminals, BlendTerminals):
        mean = softmax(np.asarray(terminals.logits[index], np.float64) / WARM.terminal) @ PRIMITIVES
        deviation = np.exp(np.asarray(terminals.log_std))
    elif isinstance(terminals, ChoiceTerminals):
        shares = softmax(np.asarray(terminals.logits[index], np.float64) / WARM.terminal)
        deviation = np.exp(np.asarray(terminals.log_std))
        return float(sum(s * normal_density(action, m, deviation) for s, m in zip(shares, PRIMITIVES, strict=True)))
    else:
        scale = np.array(terminals.scale)
        mean = np.array(terminals.centre) + scale * (
            np.asarray(terminals.weights[index]) @ features + np.asarray(terminals.bias[index])
        )
        deviation = scale * np.exp(np.asarray(terminals.log_std))
    return normal_density(action, mean, deviation)


def normal_density(action: NDArray[Any], mean: NDArray[Any], deviation: NDArray[Any]) -> float:
    """Density of independent Gaussians."""
    normal = np.exp(-0.5 * ((action - mean) / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi))
    return float(np.prod(normal))


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_release_mixes_logits_over_all_paths(depth: int) -> None:
    tree = replace(random_tree("discrete", depth, seed=depth), mixes_logits=True)
    logits, features = np.asarray(tree.terminals.logits, np.float64), np.array([0.3, -1.2, 0.8])  # type: ignore[union-attr]
    mixed = sum(chance * logits[terminal] for chance, terminal in paths(tree, features))
    found = tree.distribution(State(jnp.asarray(features, jnp.float32), jnp.zeros((0, 0))), WARM)
    assert isinstance(found, Categorical)
    np.testing.assert_allclose(found.probabilities, softmax(np.asarray(mixed) / WARM.terminal), atol=1e-5)
    assert int(found.likeliest()) == int(np.argmax(mixed))


def test_mixed_blends_have_the_blend_of_the_mixed_logits_as_mean() -> None:
    tree, features = replace(random_tree("blend", 3, seed=5), mixes_logits=True), np.array([0.3, -1.2, 0.8])
    logits = np.asarray(tree.terminals.logits, np.float64)  # type: ignore[union-attr]
    mixed = np.asarray(sum(chance * logits[terminal] for chance, terminal in paths(tree, features)))
    found = tree.distribution(State(jnp.asarray(features, jnp.float32), jnp.asarray(PRIMITIVES)), WARM)
    np.testing.assert_allclose(found.likeliest(), softmax(mixed / WARM.terminal) @ PRIMITIVES, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_hard_program_is_the_same_whatever_was_mixed(kind: str) -> None:
    agent, views = random_agent(kind, 4, seed=3), random_views(kind, 200, seed=4)
    other = replace(agent, policy=replace(agent.policy, mixes_logits=True))  # type: ignore[call-arg]
    np.testing.assert_allclose(hard_actions(agent, views, WARM), hard_actions(other, views, WARM), atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_greedy_agent_takes_the_likeliest_action_whatever_the_noise(kind: str) -> None:
    agent, view = random_agent(kind, 4, seed=3), random_views(kind, 1, seed=4)[0]
    greedy = jax.jit(lambda noise: agent.act(view, noise, WARM, SOFT._replace(greedy=True)))
    noises = np.random.default_rng(0).random((20, agent.policy.noise_size), dtype=np.float32)
    acts = np.stack([np.asarray(greedy(noise)) for noise in noises])
    expected = agent.distribution(agent.see(jnp.asarray(view)), WARM).likeliest()
    np.testing.assert_allclose(acts, np.broadcast_to(expected, acts.shape), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", DEPTHS)
def test_log_probability_is_the_sum_over_all_paths(kind: str, depth: int) -> None:
    tree, generator = random_tree(kind, depth, seed=depth), np.random.default_rng(depth)
    log_prob = eqx.filter_jit(lambda f, a: tree.distribution(State(f, jnp.asarray(PRIMITIVES)), WARM).log_prob(a))
    for _ in range(5):
        features = generator.normal(size=FEATURES).astype(np.float32)
        action = generator.integers(4) if kind == "discrete" else generator.normal(size=2)
        brute = sum(p * density(tree, index, features, action) for p, index in paths(tree, features))
        assert float(log_prob(features, jnp.asarray(action))) == pytest.approx(np.log(brute), abs=2e-4)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("hardness", [Hardness(*flags) for flags in product((False, True), repeat=3)])
def test_terminal_weights_are_a_distribution_at_every_hardness(depth: int, hardness: Hardness) -> None:
    tree = random_tree("discrete", depth, seed=7)
    views = np.random.default_rng(0).normal(scale=5.0, size=(64, FEATURES)).astype(np.float32)
    weigh = eqx.filter_jit(jax.vmap(lambda f: tree.log_terminal_weights(f, WARM, hardness)))
    weights = np.exp(np.asarray(weigh(views), np.float64))
    assert weights.shape == (64, 2 * depth - 1)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-5)
    if hardness.architecture and hardness.conditions:
        assert set(np.unique(weights)) <= {0.0, 1.0}


@pytest.mark.parametrize("depth", [1, 2, 6])
def test_every_depth_starts_equally_likely(depth: int) -> None:
    terminals = random_terminals("discrete", 2 * depth - 1, np.random.default_rng(0))
    tree = jax.jit(lambda key: make_tree(FEATURES, depth, terminals, key=key))(jax.random.key(1))
    np.testing.assert_allclose(jax.jit(DerivationTree.depth_probabilities)(tree), 1.0 / depth, rtol=1e-6)


@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_every_leaf_of_the_longest_chain_may_start_equally_likely(temperature: float) -> None:
    terminals = random_terminals("discrete", 11, np.random.default_rng(0))
    tree = make_tree(FEATURES, 6, terminals, temperature, key=jax.random.key(1))
    soft = Temperatures(architecture=1e-3, condition=temperature, terminal=1.0)
    longest = replace(tree, architecture=jnp.tile(jnp.array([0.0, 1.0]), (5, 1)))
    weights = np.exp(np.asarray(longest.log_terminal_weights(jnp.zeros(FEATURES), soft)))
    np.testing.assert_allclose([*weights[:5], weights[-1]], 1.0 / 6.0, rtol=1e-5)


@pytest.mark.parametrize("depth", DEPTHS)
def test_architecture_entropy_is_that_of_the_enumerated_depths(depth: int) -> None:
    tree = random_tree("discrete", depth, seed=3)
    enumerated = depth_probabilities(tree)
    probabilities, found = jax.jit(lambda t: (t.depth_probabilities(0.7), entropy(t.depth_probabilities(0.7))))(tree)
    np.testing.assert_allclose(probabilities, enumerated, rtol=1e-5)
    assert float(found) == pytest.approx(-sum(p * np.log(p) for p in enumerated), abs=1e-6)


def test_entropy_of_a_certain_shape_is_zero_and_has_a_gradient() -> None:
    probabilities = jnp.array([0.0, 1.0, 0.0])
    assert float(entropy(probabilities)) == 0.0
    assert np.isfinite(jax.grad(entropy)(probabilities)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_finite_differences(kind: str) -> None:
    with jax.enable_x64(True):
        tree = jax.tree.map(lambda x: jnp.asarray(np.asarray(x), jnp.float64), random_tree(kind, 4, seed=5))
        features = jnp.array([0.3, -0.8, 0.5])
        action = jnp.array(2) if kind == "discrete" else jnp.array([0.2, 0.4])
        flat, unravel = ravel_pytree(tree)

        def objective(vector: jax.Array) -> jax.Array:
            changed = unravel(vector)
            likelihood = changed.distribution(State(features, jnp.asarray(PRIMITIVES)), WARM).log_prob(action)
            return likelihood + 0.1 * entropy(changed.depth_probabilities(WARM.architecture))

        step = 1e-6
        moved = np.eye(flat.size) * step
        values = jax.jit(jax.vmap(objective))(np.concatenate([flat + moved, flat - moved]))
        slopes = np.subtract(*np.split(np.asarray(values), 2)) / (2 * step)
        np.testing.assert_allclose(jax.jit(jax.grad(objective))(flat), slopes, rtol=1e-6, atol=1e-8)


def test_nothing_is_sampled_below_the_floor_of_the_deviation() -> None:
    terminals = BlendTerminals(jnp.zeros((1, 3)), jnp.array([-50.0, 0.0]))
    tree = make_tree(FEATURES, 1, terminals, key=jax.random.key(0))
    distribution = tree.distribution(State(jnp.zeros(FEATURES), jnp.asarray(PRIMITIVES)), WARM, SOFT)
    assert isinstance(distribution, GaussianMixture)
    np.testing.assert_array_equal(distribution.log_std, [LOG_STD_FLOOR, 0.0])


def test_the_entropy_of_a_choice_is_that_of_its_shares() -> None:
    """Noise of the motors is no choice: it must not be paid for."""
    shares = np.array([0.5, 0.25, 0.25], np.float32)
    choice = Choice(jnp.log(shares), jnp.asarray(PRIMITIVES), jnp.array([-1.0, 2.0]))
    assert float(jax.jit(lambda c: c.entropy())(choice)) == pytest.approx(1.5 * np.log(2), abs=1e-6)


def test_categorical_samples_follow_the_probabilities() -> None:
    shares = np.array([0.1, 0.0, 0.6, 0.3], np.float32)
    uniform = ((np.arange(1000) + 0.5) / 1000).astype(np.float32)[:, None]
    drawn = jax.jit(jax.vmap(Categorical(jnp.asarray(shares)).sample))(uniform)
    np.testing.assert_allclose(np.bincount(drawn, minlength=4) / 1000, shares, atol=0.002)


def test_mixture_samples_have_the_mixture_s_moments() -> None:
    mixture = GaussianMixture(jnp.log(jnp.array([0.25, 0.75])), jnp.array([[4.0], [-2.0]]), jnp.log(jnp.array([0.5])))
    noise = np.random.default_rng(0).random((40_000, 2), dtype=np.float32)
    drawn = np.asarray(jax.jit(jax.vmap(mixture.sample))(noise), np.float64)
    variance = 0.25 + 0.25 * 4.5**2 + 0.75 * 1.5**2
    assert drawn.mean() == pytest.approx(-0.5, abs=0.05)
    assert drawn.var() == pytest.approx(variance, rel=0.02)


def test_affine_means_are_in_units_of_the_action_range() -> None:
    terminals = AffineTerminals(jnp.zeros((1, 2, FEATURES)), jnp.ones((1, 2)), jnp.zeros(2), (0.5, 10.0), (2.5, 1.0))
    tree = make_tree(FEATURES, 1, terminals, key=jax.random.key(0))
    distribution = tree.distribution(State(jnp.zeros(FEATURES), jnp.zeros((0, 0))), WARM)
    assert isinstance(distribution, GaussianMixture)
    np.testing.assert_allclose(distribution.means[0], [3.0, 11.0])
    np.testing.assert_allclose(np.exp(distribution.log_std), [2.5, 1.0], rtol=1e-6)

"""Parameter groups: they rebuild the agent, a frozen one stays bit for bit, an active one follows Adam."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from tests.policy.trees import KINDS, random_agent

from diprl.train.parameters import Blueprint, Moments, Vector, begin_moments, descend, step_sizes


@cache
def blueprint() -> Blueprint:
    return Blueprint(random_agent("discrete", 3, seed=0))


@jax.jit
def step(vector: Vector, moments: Moments, gradient: Vector, active: Any, taken: Any = 0.0) -> tuple[Vector, Moments]:
    """One step of size 0.01, with gradients clipped to a norm of 0.5."""
    size = jax.tree.map(lambda x: x[0], step_sizes(taken * jnp.ones(3), active, jnp.float32(0.01), 1))
    return descend(blueprint(), vector, moments, gradient, active, size, jnp.float32(0.5))


def numbers(seed: int, scale: float = 1.0) -> Vector:
    size = int(blueprint().ends[-1])
    return jnp.asarray(np.random.default_rng(seed).normal(scale=scale, size=size), jnp.float32)


def on(*flags: bool) -> Any:
    return jnp.asarray(flags)


ALL = (True, True, True)


def group(vector: Vector, index: int) -> Vector:
    return np.split(np.asarray(vector), blueprint().ends[:-1])[index]  # type: ignore[return-value]


def same(first: Any, second: Any) -> bool:
    leaves = zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True)
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in leaves)


@pytest.mark.parametrize("kind", KINDS)
def test_a_blueprint_rebuilds_the_agent(kind: str) -> None:
    agent = random_agent(kind, 3, seed=1)
    blueprint = Blueprint(agent)
    rebuilt = blueprint.build(blueprint.flatten(agent), agent.normaliser)
    assert jax.tree.structure(rebuilt) == jax.tree.structure(agent)
    assert same(rebuilt, agent)


@pytest.mark.parametrize("kind", KINDS)
def test_the_architecture_comes_first_and_the_critic_last(kind: str) -> None:
    agent = random_agent(kind, 3, seed=1)
    blueprint = Blueprint(agent)
    spread = np.asarray(blueprint.spread(jnp.array([1, 2, 3])))
    sizes = [sum(leaf.size for leaf in jax.tree.leaves(part)) for part in (agent.policy, agent.critic)]
    first = agent.policy.architecture.size
    assert spread.tolist() == [1] * first + [2] * (sizes[0] - first) + [3] * sizes[1]
    vector = np.asarray(blueprint.flatten(agent))
    np.testing.assert_array_equal(vector[:first], np.asarray(agent.policy.architecture).reshape(-1))


@pytest.mark.parametrize("frozen", range(3))
def test_a_frozen_group_keeps_numbers_and_optimiser_state_bit_for_bit(frozen: int) -> None:
    start = numbers(0)
    _, warm = step(start, begin_moments(start), numbers(1), on(*ALL))
    active = [index != frozen for index in range(3)]
    after, moments = step(start, warm, numbers(2), on(*active), 1.0)
    for index in range(3):
        assert same(group(after, index), group(start, index)) == (index == frozen)
        for new, old in zip(moments, warm, strict=True):
            assert same(group(new, index), group(old, index)) == (index == frozen)


def test_a_frozen_group_does_not_count_in_the_norm() -> None:
    start, moments, small = numbers(0), begin_moments(numbers(0)), numbers(1, 0.1)
    end = int(blueprint().ends[0])
    active = on(False, True, True)
    quiet, _ = step(start, moments, small.at[:end].set(0.0), active)
    loud, _ = step(start, moments, small.at[:end].set(1e6), active)
    assert same(quiet, loud)


def test_steps_are_counted_for_each_group_alone() -> None:
    sizes = step_sizes(jnp.array([0.0, 5.0, 9.0]), on(True, False, True), jnp.float32(0.01), 4)
    assert len(np.unique(np.asarray(sizes.rate)[:, 1])) == 1
    later = step_sizes(jnp.array([4.0, 5.0, 13.0]), on(True, False, True), jnp.float32(0.01), 1)
    longer = step_sizes(jnp.array([0.0, 5.0, 9.0]), on(True, False, True), jnp.float32(0.01), 5)
    for one, many in zip(later, longer, strict=True):
        np.testing.assert_array_equal(np.asarray(one)[0], np.asarray(many)[4])


@pytest.mark.parametrize("scale", [0.001, 10.0])
def test_active_groups_follow_clipped_adam(scale: float) -> None:
    reference = optax.chain(optax.clip_by_global_norm(0.5), optax.scale_by_adam(eps=1e-5), optax.scale(-0.01))
    ours = theirs = numbers(0)
    moments, state = begin_moments(ours), reference.init(theirs)
    for seed in range(1, 5):
        gradient = numbers(seed, scale)
        ours, moments = step(ours, moments, gradient, on(*ALL), seed - 1.0)
        updates, state = reference.update(gradient, state)
        theirs = jnp.asarray(optax.apply_updates(theirs, updates))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)

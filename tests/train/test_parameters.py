"""Parameter groups: they rebuild the agent, a frozen one stays bit for bit, an active one follows Adam."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from tests.policy.trees import KINDS, random_agent

from diprl.train.parameters import Blueprint, Groups, begin_moments, descend

SIZES = (6, 11, 4)
step = jax.jit(descend)


def vectors(seed: int, scale: float = 1.0) -> Groups:
    generator = np.random.default_rng(seed)
    return Groups(*(jnp.asarray(generator.normal(scale=scale, size=size), jnp.float32) for size in SIZES))


def on(*flags: bool) -> Groups:
    return Groups(*(jnp.asarray(flag) for flag in flags))


def same(first: Any, second: Any) -> bool:
    leaves = zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True)
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in leaves)


@pytest.mark.parametrize("kind", KINDS)
def test_a_blueprint_rebuilds_the_agent(kind: str) -> None:
    agent = random_agent(kind, 3, seed=1)
    blueprint = Blueprint(agent)
    flat = blueprint.flatten(agent)
    assert flat.architecture.size == agent.policy.architecture.size
    rebuilt = blueprint.build(flat, agent.normaliser)
    assert jax.tree.structure(rebuilt) == jax.tree.structure(agent)
    assert same(rebuilt, agent)


@pytest.mark.parametrize("frozen", range(3))
def test_a_frozen_group_keeps_numbers_and_optimiser_state_bit_for_bit(frozen: int) -> None:
    start = vectors(0)
    _, warm = step(start, begin_moments(start), vectors(1), on(True, True, True), 0.01, 0.5)
    active = [index != frozen for index in range(3)]
    after, moments = step(start, warm, vectors(2), on(*active), 0.01, 0.5)
    for index in range(3):
        assert same(after[index], start[index]) == (index == frozen)
        assert same(moments[index], warm[index]) == (index == frozen)


def test_a_frozen_group_does_not_count_in_the_norm() -> None:
    start, moments = vectors(0), begin_moments(vectors(0))
    small, huge = vectors(1, 0.1), vectors(1, 0.1)._replace(architecture=1e6 * jnp.ones(6))
    quiet, _ = step(
        start, moments, small._replace(architecture=jnp.zeros(6)), on(False, True, True), 0.01, 0.5
    )
    loud, _ = step(start, moments, huge, on(False, True, True), 0.01, 0.5)
    assert same(quiet, loud)


@pytest.mark.parametrize("scale", [0.01, 10.0])
def test_active_groups_follow_clipped_adam(scale: float) -> None:
    reference = optax.chain(optax.clip_by_global_norm(0.5), optax.scale_by_adam(eps=1e-5), optax.scale(-0.01))
    ours = theirs = vectors(0)
    moments, state = begin_moments(ours), reference.init(theirs)
    for seed in range(1, 5):
        gradients = vectors(seed, scale)
        ours, moments = step(ours, moments, gradients, on(True, True, True), 0.01, 0.5)
        updates, state = reference.update(gradients, state)
        theirs = optax.apply_updates(theirs, updates)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)

"""The agent's numbers as a few flat vectors, one per group that trains on its own schedule.

One vector per group makes Adam a handful of fused kernels instead of a dozen per array, and lets a phase freeze a group
together with its optimiser state.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from diprl.policy.agent import Agent, Normaliser


class Groups(NamedTuple):
    """One entry per group: parameters, gradients, optimiser states or on/off switches."""

    architecture: Any
    program: Any
    critic: Any


class Blueprint:
    """How to rebuild an agent from its flat vectors."""

    def __init__(self, agent: Agent) -> None:
        arrays, self.static = eqx.partition(agent, eqx.is_array)
        parts = split(arrays)
        self.unravel = Groups(*(ravel_pytree(part)[1] for part in parts))

    def flatten(self, agent: Agent) -> Groups:
        return Groups(*(ravel_pytree(part)[0] for part in split(eqx.filter(agent, eqx.is_array))))

    def build(self, vectors: Groups, normaliser: Normaliser) -> Agent:
        architecture, program, critic = (unravel(v) for unravel, v in zip(self.unravel, vectors, strict=True))
        policy = eqx.tree_at(lambda p: p.architecture, program, architecture, is_leaf=lambda x: x is None)
        agent = eqx.tree_at(
            lambda a: (a.policy, a.critic, a.normaliser),
            self.static,
            (policy, critic, normaliser),
            is_leaf=lambda x: x is None,
        )
        return eqx.combine(agent, self.static)


def split(arrays: Agent) -> Groups:
    """The arrays of each group; the normaliser belongs to none, since it is measured and not trained."""
    program = eqx.tree_at(lambda p: p.architecture, arrays.policy, None)
    return Groups(arrays.policy.architecture, program, arrays.critic)


adam = optax.scale_by_adam(eps=1e-5)


def begin_moments(vectors: Groups) -> Groups:
    return Groups(*(adam.init(vector) for vector in vectors))


def descend(
    vectors: Groups,
    moments: Groups,
    gradients: Groups,
    active: Groups,
    learning_rate: Float[Array, ""],
    max_grad_norm: Float[Array, ""],
) -> tuple[Groups, Groups]:
    """One Adam step on the active groups; an inactive one keeps its numbers and its optimiser state untouched."""
    gradients = Groups(*(jnp.where(on, g, 0.0) for on, g in zip(active, gradients, strict=True)))
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in gradients))
    shrink = jnp.minimum(1.0, max_grad_norm / jnp.maximum(norm, 1e-12))

    def group_step(vector: Array, state: Any, gradient: Array, on: Array) -> tuple[Array, Any]:
        update, new_state = adam.update(gradient * shrink, state)
        stepped = (vector - learning_rate * jnp.asarray(update), new_state)
        return jax.tree.map(lambda new, old: jnp.where(on, new, old), stepped, (vector, state))

    stepped = [group_step(*group) for group in zip(vectors, moments, gradients, active, strict=True)]
    return Groups(*(vector for vector, _ in stepped)), Groups(*(state for _, state in stepped))

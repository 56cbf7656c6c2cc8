"""The agent's numbers as one flat vector, in groups that train on their own schedules.

One vector makes Adam a handful of fused kernels instead of a dozen per array; a phase can still freeze a group together
with its optimiser state.
"""

from math import prod
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float

from diprl.policy.agent import Agent, Normaliser

MEAN_DECAY, SQUARE_DECAY, EPSILON = 0.9, 0.999, 1e-5
"""Adam's constants, with the epsilon that PPO implementations use."""

Vector = Float[Array, " parameters"]


class Groups(NamedTuple):
    """One entry per group, in the order in which the vector holds them."""

    architecture: Any
    program: Any
    critic: Any


class Moments(NamedTuple):
    """Adam's running moments of the gradient."""

    mean: Vector
    square: Vector


class StepSize(NamedTuple):
    """Adam's step size and epsilon for each group, with its corrections for moments that began at zero."""

    rate: Float[Array, "... groups"]
    epsilon: Float[Array, "... groups"]


class Blueprint:
    """How to rebuild an agent from its flat vector, and where in it each group ends."""

    def __init__(self, agent: Agent) -> None:
        arrays, self.static = eqx.partition(agent, eqx.is_array)
        parts = split(arrays)
        leaves, self.structure = jax.tree.flatten(parts)
        self.shapes = [leaf.shape for leaf in leaves]
        self.ends = np.cumsum([sum(leaf.size for leaf in jax.tree.leaves(part)) for part in parts])

    def flatten(self, agent: Agent) -> Vector:
        return ravel_pytree(split(eqx.filter(agent, eqx.is_array)))[0]

    def build(self, vector: Vector, normaliser: Normaliser) -> Agent:
        pieces = jnp.split(vector, np.cumsum([prod(shape) for shape in self.shapes])[:-1])
        leaves = [piece.reshape(shape) for piece, shape in zip(pieces, self.shapes, strict=True)]
        architecture, program, critic = jax.tree.unflatten(self.structure, leaves)
        policy = eqx.tree_at(lambda p: p.architecture, program, architecture, is_leaf=lambda x: x is None)
        agent = eqx.tree_at(lambda a: (a.policy, a.critic), self.static, (policy, critic), is_leaf=lambda x: x is None)
        return eqx.tree_at(lambda a: a.normaliser, eqx.combine(agent, self.static), normaliser)

    def spread(self, values: Array) -> Array:
        """One value per number of the vector, from one per group; choosing by position is faster than looking up."""
        position, (first, second, third) = jnp.arange(self.ends[2]), values
        return jnp.where(position < self.ends[0], first, jnp.where(position < self.ends[1], second, third))


def split(arrays: Agent) -> Groups:
    """The arrays of each group; the normaliser belongs to none, since it is measured and not trained."""
    program = eqx.tree_at(lambda p: p.architecture, arrays.policy, None)
    return Groups(arrays.policy.architecture, program, arrays.critic)


def begin_moments(vector: Vector) -> Moments:
    return Moments(jnp.zeros_like(vector), jnp.zeros_like(vector))


def step_sizes(
    taken: Float[Array, " groups"], active: Bool[Array, " groups"], learning_rate: Float[Array, ""], count: int
) -> StepSize:
    """The sizes of the next `count` steps of groups that have taken some already, all computed at once."""
    steps = taken + active * jnp.arange(1.0, count + 1.0)[:, None]
    correction = jnp.sqrt(1.0 - SQUARE_DECAY**steps)
    return StepSize(learning_rate * correction / (1.0 - MEAN_DECAY**steps), EPSILON * correction)


def descend(
    blueprint: Blueprint,
    vector: Vector,
    moments: Moments,
    gradient: Vector,
    active: Bool[Array, " groups"],
    size: StepSize,
    max_grad_norm: Float[Array, ""] | float,
) -> tuple[Vector, Moments]:
    """One Adam step on the active groups; an inactive one keeps its numbers and its optimiser state untouched."""
    on, rate, epsilon = (blueprint.spread(values) for values in (active, *size))
    # The barriers keep gradient and norm out of the update, which a GPU then does in one pass instead of three.
    gradient = jax.lax.optimization_barrier(jnp.where(on, gradient, 0.0))
    norm = jax.lax.optimization_barrier(jnp.sqrt(jnp.sum(gradient * gradient)))
    gradient = gradient * jnp.minimum(1.0, max_grad_norm / jnp.maximum(norm, 1e-12))
    mean = MEAN_DECAY * moments.mean + (1.0 - MEAN_DECAY) * gradient
    square = SQUARE_DECAY * moments.square + (1.0 - SQUARE_DECAY) * gradient**2
    stepped = vector - rate * mean / (jnp.sqrt(square) + epsilon)
    moments = Moments(jnp.where(on, mean, moments.mean), jnp.where(on, square, moments.square))
    return jnp.where(on, stepped, vector), moments

"""A rollout shuffled and cut into minibatches, as fast as XLA can."""

import jax
import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from diprl.train.loss import Transitions

SMALL = 0.2
"""Deviations of advantages under this are noise where little of the reward is understood yet, in scaled rewards."""


def shuffled(transitions: Transitions, order: Int[Array, " batch"], size: int, smallest: float) -> Transitions:
    """The rollout in the given order, cut into minibatches; one gather of whole rows moves all fields."""
    unravel = ravel_pytree(jax.tree.map(lambda x: x[0], transitions))[1]
    rows = jax.vmap(lambda transition: ravel_pytree(transition)[0])(transitions)
    minibatches = jax.vmap(jax.vmap(unravel))(rows[order].reshape(-1, size, rows.shape[-1]))
    return minibatches._replace(advantage=standardised(minibatches.advantage, smallest))


def standardised(advantage: Float[Array, "parts batch"], smallest: float = 0.0) -> Float[Array, "parts batch"]:
    """Mean 0 and deviation 1 in every minibatch, less where the deviation is under the smallest that counts."""
    mean = advantage.mean(axis=-1, keepdims=True)
    deviation = advantage.std(axis=-1, keepdims=True) + 1e-8
    return (advantage - mean) / (jnp.maximum(deviation, smallest) if smallest else deviation)


def random_orders(size: int, keys: Key[Array, " keys"]) -> Int[Array, "keys size"]:
    return jax.vmap(lambda key: random_order(size, key=key))(keys)


def random_order(size: int, *, key: PRNGKeyArray) -> Int[Array, " size"]:
    """A random permutation by sorting random numbers that carry their index in the low bits.

    Sorting one array of integers is several times faster than `jax.random.permutation`, which sorts pairs twice.
    """
    index_bits = jnp.uint32((1 << (size - 1).bit_length()) - 1)
    marked = (jr.bits(key, (size,), jnp.uint32) & ~index_bits) | jnp.arange(size, dtype=jnp.uint32)
    return (jnp.sort(marked) & index_bits).astype(jnp.int32)

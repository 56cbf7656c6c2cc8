"""Kernels that XLA needs written out to be fast: sums over a few numbers, and products with a layer's weights.

A compiler fuses additions with whatever surrounds them, while a reduction is a kernel of its own: on the few numbers
of a policy's head, starting kernels costs more than computing. And the gradient of a layer's weights multiplies by the
transposed inputs, for which XLA's processor backend falls back on a slow kernel unless they are transposed already.
"""

from functools import reduce
from itertools import accumulate
from operator import add

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Num

LONGEST_SUM = 16
LARGEST_BATCH = 256
"""Up to this many rows both kernels add in the same order, so that results stay the same, bit for bit."""
NARROW = 16
"""A matrix of fewer columns than this is the one to transpose."""


def total(terms: Num[Array, "... terms"]) -> Num[Array, "..."]:
    """The sum over the last axis."""
    return reduce(add, columns(terms)) if short(terms) else jnp.sum(terms, axis=-1)


def running_totals(terms: Num[Array, "... terms"]) -> Num[Array, "... terms"]:
    """The sums of the first, the first two, … terms."""
    return jnp.stack(list(accumulate(columns(terms))), axis=-1) if short(terms) else jnp.cumsum(terms, axis=-1)


def log_softmax(logits: Float[Array, "... choices"]) -> Float[Array, "... choices"]:
    """Logarithms of the probabilities that logits stand for."""
    if not short(logits):
        return jax.nn.log_softmax(logits, axis=-1)
    shifted = logits - jax.lax.stop_gradient(reduce(jnp.maximum, columns(logits)))[..., None]
    return shifted - jnp.log(total(jnp.exp(shifted)))[..., None]


def short(terms: Num[Array, "... terms"]) -> bool:
    return 0 < terms.shape[-1] <= LONGEST_SUM


def columns(terms: Num[Array, "... terms"]) -> list[Num[Array, "..."]]:
    return [terms[..., index] for index in range(terms.shape[-1])]


def product(inputs: Float[Array, "*batch in"], weight: Float[Array, "in out"]) -> Float[Array, "*batch out"]:
    if inputs.ndim == 2 and len(inputs) <= LARGEST_BATCH and jax.default_backend() == "cpu":
        return batch_product(inputs, weight)
    return inputs @ weight


@jax.custom_vjp
def batch_product(inputs: Float[Array, "batch in"], weight: Float[Array, "in out"]) -> Float[Array, "batch out"]:
    return inputs @ weight


def forwards(inputs: Array, weight: Array) -> tuple[Array, tuple[Array, Array]]:
    return inputs @ weight, (inputs, weight)


def backwards(known: tuple[Array, Array], change: Float[Array, "batch out"]) -> tuple[Array, Array]:
    """What the outputs' change means for the inputs and for the weights."""
    inputs, weight = known
    return change @ weight.T, product_of_transposed(inputs, change)


batch_product.defvjp(forwards, backwards)


def product_of_transposed(left: Float[Array, "batch in"], right: Float[Array, "batch out"]) -> Float[Array, "in out"]:
    if right.shape[1] < NARROW:
        return keep(keep(right.T) @ left).T
    return keep(left.T) @ right


keep = jax.lax.optimization_barrier
"""Stops the compiler from folding a transpose back into the product."""


def without_gradient_at_zero(weights: Array) -> Array:
    """The same numbers, but those that are zero have no gradient and so stay zero."""
    return jnp.where(weights == 0.0, 0.0, weights)

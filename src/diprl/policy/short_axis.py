"""Sums over a short last axis, written out term by term.

A compiler fuses additions with whatever surrounds them, while a reduction is a kernel of its own: on the few numbers
of a policy's head, starting kernels costs more than computing.
"""

from functools import reduce
from itertools import accumulate
from operator import add

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

LONGEST = 16


def total(terms: Float[Array, "... terms"]) -> Float[Array, "..."]:
    """The sum over the last axis."""
    return reduce(add, columns(terms)) if short(terms) else jnp.sum(terms, axis=-1)


def running_totals(terms: Float[Array, "... terms"]) -> Float[Array, "... terms"]:
    """The sums of the first, the first two, … terms."""
    return jnp.stack(list(accumulate(columns(terms))), axis=-1) if short(terms) else jnp.cumsum(terms, axis=-1)


def log_softmax(logits: Float[Array, "... choices"]) -> Float[Array, "... choices"]:
    """Logarithms of the probabilities that logits stand for."""
    if not short(logits):
        return jax.nn.log_softmax(logits, axis=-1)
    shifted = logits - jax.lax.stop_gradient(reduce(jnp.maximum, columns(logits)))[..., None]
    return shifted - jnp.log(total(jnp.exp(shifted)))[..., None]


def short(terms: Float[Array, "... terms"]) -> bool:
    return 0 < terms.shape[-1] <= LONGEST


def columns(terms: Float[Array, "... terms"]) -> list[Float[Array, "..."]]:
    return [terms[..., index] for index in range(terms.shape[-1])]

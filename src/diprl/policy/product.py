"""A batch of vectors times a layer's weights, with a gradient that takes no longer than the product itself.

The gradient of the weights multiplies by the transposed inputs. For that XLA's processor backend falls back on a slow
kernel, unless it is given them transposed already.
"""

import jax
from jaxtyping import Array, Float

LARGEST = 256
"""Up to this many rows both kernels add in the same order, so that results stay the same, bit for bit."""
NARROW = 16
"""A matrix of fewer columns than this is the one to transpose."""


def product(
    inputs: Float[Array, "*batch inputs"], weight: Float[Array, "inputs outputs"]
) -> Float[Array, "*batch outputs"]:
    if inputs.ndim == 2 and len(inputs) <= LARGEST and jax.default_backend() == "cpu":
        return batch_product(inputs, weight)
    return inputs @ weight


@jax.custom_vjp
def batch_product(
    inputs: Float[Array, "batch inputs"], weight: Float[Array, "inputs outputs"]
) -> Float[Array, "batch outputs"]:
    return inputs @ weight


def forwards(inputs: Array, weight: Array) -> tuple[Array, tuple[Array, Array]]:
    return inputs @ weight, (inputs, weight)


def backwards(known: tuple[Array, Array], change: Float[Array, "batch outputs"]) -> tuple[Array, Array]:
    """What the outputs' change means for the inputs and for the weights."""
    inputs, weight = known
    return change @ weight.T, product_of_transposed(inputs, change)


batch_product.defvjp(forwards, backwards)


def product_of_transposed(
    left: Float[Array, "batch inputs"], right: Float[Array, "batch outputs"]
) -> Float[Array, "inputs outputs"]:
    if right.shape[1] < NARROW:
        return apart(apart(right.T) @ left).T
    return apart(left.T) @ right


apart = jax.lax.optimization_barrier
"""Keeps the compiler from folding a transpose back into the product."""

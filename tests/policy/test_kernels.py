"""Products with layers, and their gradients, are those of plain matrix multiplication."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from jaxtyping import Array

from diprl.policy.kernels import LARGEST_BATCH, NARROW, product

ROWS = (1, 64, LARGEST_BATCH, LARGEST_BATCH + 1)
WIDTHS = ((4, 64), (64, 64), (64, NARROW), (64, NARROW - 1), (64, 1))


def gradients(multiply: Callable[[Array, Array], Array], inputs: Array, weight: Array) -> tuple[Array, Array]:
    def curved(inputs: Array, weight: Array) -> Array:
        return jnp.sum(jnp.sin(multiply(inputs, weight)))

    return jax.jit(jax.grad(curved, argnums=(0, 1)))(inputs, weight)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(("width", "outputs"), WIDTHS)
def test_a_batch_has_the_gradient_of_plain_multiplication(rows: int, width: int, outputs: int) -> None:
    inputs, weight = jr.normal(jr.key(0), (rows, width)), jr.normal(jr.key(1), (width, outputs))
    np.testing.assert_allclose(product(inputs, weight), inputs @ weight, atol=1e-4)
    for ours, plain in zip(gradients(product, inputs, weight), gradients(jnp.matmul, inputs, weight), strict=True):
        np.testing.assert_allclose(ours, plain, atol=1e-3)


def test_a_single_vector_and_many_seeds_have_it_too() -> None:
    inputs, weights = jr.normal(jr.key(0), (3, 32, 4)), jr.normal(jr.key(1), (3, 4, 64))
    for ours, plain in zip(
        jax.vmap(lambda *each: gradients(product, *each))(inputs, weights),
        jax.vmap(lambda *each: gradients(jnp.matmul, *each))(inputs, weights),
        strict=True,
    ):
        np.testing.assert_allclose(ours, plain, atol=1e-4)
    alone = gradients(product, inputs[0, 0], weights[0])
    np.testing.assert_allclose(alone[1], gradients(jnp.matmul, inputs[0, 0], weights[0])[1], atol=1e-5)

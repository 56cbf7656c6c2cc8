"""Networks begin orthogonal, whatever the shapes that are factorised together."""

import subprocess
import sys
from itertools import pairwise

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from diprl.policy.kernels import LONGEST_SUM, log_softmax, running_totals, total
from diprl.policy.mlp import make_mlp, orthogonal_layers


@pytest.mark.parametrize("sizes", [(4, 64, 64, 1), (100, 8, 8, 3), (3, 5)])
def test_the_shorter_side_of_every_layer_is_orthonormal(sizes: tuple[int, ...]) -> None:
    shapes = list(pairwise(sizes))
    for layer, shape in zip(orthogonal_layers(shapes, key=jr.key(0)), shapes, strict=True):
        assert layer.shape == shape
        short = layer if shape[0] <= shape[1] else layer.T
        np.testing.assert_allclose(short @ short.T, np.eye(min(shape)), atol=1e-5)


def test_no_direction_is_preferred() -> None:
    draw = jax.vmap(lambda key: orthogonal_layers([(3, 2), (5, 5)], key=key)[0])
    entries = np.asarray(jax.jit(draw)(jr.split(jr.key(1), 4000)))
    np.testing.assert_allclose(entries.mean(axis=0), 0.0, atol=0.05)
    np.testing.assert_allclose((entries**2).mean(axis=0), 1 / 3, atol=0.03)


def test_gains_scale_the_layers() -> None:
    network = make_mlp((4, 6, 1), 0.01, key=jr.key(2))
    norms = [float(jnp.linalg.norm(weight, 2)) for weight in network.weights]
    np.testing.assert_allclose(norms, [2**0.5, 0.01], rtol=1e-5)


DRAWING = """
import jax, jax.random as jr
from diprl.policy.mlp import make_mlp
draw = jax.jit(lambda key: [make_mlp((4, 64, 64, 1), 1.0, key=key) for key in jr.split(key)])
for seed in range(400):
    jax.block_until_ready(draw(jr.key(seed)))
"""


def test_two_networks_drawn_at_once_never_wait_for_each_other() -> None:
    subprocess.run([sys.executable, "-c", DRAWING], check=True, timeout=60)


@pytest.mark.parametrize("length", [1, 2, LONGEST_SUM, LONGEST_SUM + 3])
def test_sums_written_out_are_sums(length: int) -> None:
    terms = jr.normal(jr.key(length), (5, length))
    np.testing.assert_allclose(total(terms), terms.sum(axis=-1), atol=1e-5)
    np.testing.assert_allclose(running_totals(terms), jnp.cumsum(terms, axis=-1), atol=1e-5)
    np.testing.assert_allclose(log_softmax(terms), jax.nn.log_softmax(terms), atol=1e-6)
    gradient = jax.grad(lambda x: jnp.sum(log_softmax(x) ** 2))(terms)
    expected = jax.grad(lambda x: jnp.sum(jax.nn.log_softmax(x) ** 2))(terms)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)

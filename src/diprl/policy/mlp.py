"""Small tanh networks: the critic of every method and the policy of neural PPO."""

from collections.abc import Sequence
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from diprl.policy.base import SOFT, AbstractPolicy, Hardness, Judged, State, Temperatures, either, judge
from diprl.policy.distributions import Categorical, Distribution, GaussianMixture
from diprl.policy.kernels import log_softmax, product


class MLP(eqx.Module):
    """Affine layers with tanh between them."""

    weights: tuple[Float[Array, "_ _"], ...]
    biases: tuple[Float[Array, " _"], ...]

    def __call__(self, inputs: Float[Array, "*batch inputs"]) -> Float[Array, "*batch outputs"]:
        *hidden, last = zip(self.weights, self.biases, strict=True)
        for weight, bias in hidden:
            inputs = jnp.tanh(product(inputs, weight) + bias)
        return product(inputs, last[0]) + last[1]


def make_mlp(sizes: Sequence[int], last_gain: float, *, key: PRNGKeyArray) -> MLP:
    """Orthogonal weights, as PPO implementations have them: gain √2 inside, `last_gain` at the end."""
    gains = [2.0**0.5] * (len(sizes) - 2) + [last_gain]
    layers = orthogonal_layers(list(pairwise(sizes)), key=key)
    weights = tuple(gain * layer for gain, layer in zip(gains, layers, strict=True))
    return MLP(weights, tuple(jnp.zeros(size) for size in sizes[1:]))


def orthogonal_layers(shapes: Sequence[tuple[int, int]], *, key: PRNGKeyArray) -> list[Float[Array, "_ _"]]:
    """For each shape a matrix with orthonormal columns, or rows where those are fewer, evenly drawn from all of them.

    All are filled up with zeros to one shape: a factorisation takes long to compile, and so one serves all. It takes
    them one by one: given several at once it waits for other threads, and the factorisations of two networks that run
    at the same time can wait for each other's for ever.
    """
    long, narrow = np.array([max(shape) for shape in shapes]), max(min(shape) for shape in shapes)
    inside = np.arange(long.max())[:, None] < long[:, None, None]
    drawn = jr.normal(key, (len(shapes), long.max(), narrow))
    columns, triangle = jax.lax.map(jnp.linalg.qr, jnp.where(inside, drawn, 0.0))
    columns = columns * jnp.sign(jnp.diagonal(triangle, axis1=-2, axis2=-1))[:, None, :]
    cut = [whole[: max(shape), : min(shape)] for whole, shape in zip(columns, shapes, strict=True)]
    return [layer if layer.shape == shape else layer.T for layer, shape in zip(cut, shapes, strict=True)]


class MLPPolicy(AbstractPolicy):
    """The neural reference: a network that outputs action logits, or the mean of a Gaussian."""

    architecture: Float[Array, "0 2"]
    network: MLP
    log_std: Float[Array, " outputs"]
    """Empty for discrete actions."""
    centre: tuple[float, ...] = eqx.field(static=True, default=())
    scale: tuple[float, ...] = eqx.field(static=True, default=())

    @property
    def noise_size(self) -> int:
        return 1 + self.log_std.shape[0]

    def distribution(self, state: State, temperatures: Temperatures, hardness: Hardness = SOFT) -> Distribution:
        return self.around(self.network(state.features), hardness)

    def evaluate(self, states: State, actions: Array, temperatures: Temperatures) -> Judged:
        """As every policy does, but with one product per layer for the whole batch."""
        outputs = self.network(states.features)
        return jax.vmap(lambda output, action: judge(self.around(output), action))(outputs, actions)

    def around(self, output: Float[Array, " outputs"], hardness: Hardness = SOFT) -> Distribution:
        """The distribution that the network's output stands for."""
        if not self.log_std.shape[0]:
            greedy = (jnp.arange(output.shape[0]) == jnp.argmax(output)).astype(output.dtype)
            return Categorical(either(hardness.terminals, greedy, jnp.exp(log_softmax(output))))
        mean = jnp.array(self.centre) + jnp.array(self.scale) * output
        log_std = jnp.log(jnp.array(self.scale)) + self.log_std
        log_std = either(hardness.terminals, jnp.full_like(log_std, -1e9), log_std)
        return GaussianMixture(jnp.zeros(1), mean[None], log_std)

"""What the terminals of a relaxed program hold: actions, blends of primitives, or affine controllers."""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from diprl.policy.base import State, Switch, either
from diprl.policy.distributions import SMALLEST_PROBABILITY, Categorical, Choice, Distribution, GaussianMixture
from diprl.policy.kernels import log_softmax, without_gradient_at_zero

NEVER = -1e9
LOG_STD_FLOOR = -3.0


class DiscreteTerminals(eqx.Module):
    """One categorical distribution over the actions per terminal."""

    logits: Float[Array, "terminals actions"]
    noise_size = 1

    def mixture(self, log_weights: Array, state: State, temperature: Array | float, hard: Switch) -> Distribution:
        return Categorical(jnp.exp(log_weights) @ chosen(self.logits, temperature, hard))


class AbstractGaussianTerminals(eqx.Module):
    """One mean per terminal, and Gaussian noise around it."""

    log_std: eqx.AbstractVar[Float[Array, "*terminals outputs"]]

    @property
    def noise_size(self) -> int:
        return 1 + self.log_std.shape[-1]

    @property
    def log_deviation(self) -> Float[Array, "*terminals outputs"]:
        """Of the noise, in the units of the actions."""
        return self.log_std

    @abstractmethod
    def means(self, state: State, temperature: Array | float) -> Float[Array, "terminals outputs"]:
        """What each terminal does in this state."""

    def mixture(self, log_weights: Array, state: State, temperature: Array | float, hard: Switch) -> Distribution:
        return GaussianMixture(log_weights, self.means(state, temperature), deviation(self.log_deviation, hard))


class BlendTerminals(AbstractGaussianTerminals):
    """One weighting over the primitives per terminal; the mean is the weighted action."""

    logits: Float[Array, "terminals primitives"]
    log_std: Float[Array, "*terminals actuators"]

    def means(self, state: State, temperature: Array | float) -> Float[Array, "terminals outputs"]:
        return jnp.exp(log_softmax(self.logits / temperature)) @ state.primitives


class AffineTerminals(AbstractGaussianTerminals):
    """One affine controller of the normalised features per terminal, in units of the action range.

    A terminal's controller is the mean of all and a part of its own difference from that, so that all of them learn as
    one at first.
    """

    weights: Float[Array, "terminals outputs features"]
    bias: Float[Array, "terminals outputs"]
    log_std: Float[Array, "*terminals outputs"]
    centre: tuple[float, ...] = eqx.field(static=True)
    scale: tuple[float, ...] = eqx.field(static=True)
    keeps_zeros: bool = eqx.field(static=True, default=False)
    """Whether an output that does not read a feature goes on not reading it."""
    difference: float = eqx.field(static=True, default=1.0)
    """The part that counts."""

    @property
    def log_deviation(self) -> Float[Array, "*terminals outputs"]:
        return jnp.log(jnp.array(self.scale)) + self.log_std

    def means(self, state: State, temperature: Array | float) -> Float[Array, "terminals outputs"]:
        weights = without_gradient_at_zero(self.weights) if self.keeps_zeros else self.weights
        slopes, offset = self.closer(weights), self.closer(self.bias)
        return jnp.array(self.centre) + jnp.array(self.scale) * (slopes @ state.features + offset)

    def closer(self, numbers: Array) -> Array:
        """The numbers that the terminals act with."""
        if self.difference == 1.0:
            return numbers
        common = numbers.mean(axis=0, keepdims=True)
        return common + self.difference * (numbers - common)


class ChoiceTerminals(eqx.Module):
    """One categorical distribution over the primitives per terminal: a primitive acts by itself or not at all.

    Terminals that choose the same primitive act alike, so the mixture has one component per primitive.
    """

    logits: Float[Array, "terminals primitives"]
    log_std: Float[Array, " actuators"]

    @property
    def noise_size(self) -> int:
        return 1 + self.log_std.shape[0]

    def mixture(self, log_weights: Array, state: State, temperature: Array | float, hard: Switch) -> Distribution:
        shares = jnp.exp(log_weights) @ chosen(self.logits, temperature, hard)
        log_shares = jnp.log(jnp.maximum(shares, SMALLEST_PROBABILITY))
        return Choice(log_shares, state.primitives, deviation(self.log_std, hard))


Terminals = DiscreteTerminals | BlendTerminals | ChoiceTerminals | AffineTerminals


def averaged(terminals: Terminals, weights: Float[Array, " terminals"]) -> Terminals:
    """One terminal with the weighted mean of all terminals' numbers; a deviation that they share stays."""

    def mean(numbers: Array) -> Array:
        return numbers if numbers.ndim == 1 else jnp.tensordot(weights, numbers, axes=1)[None]

    return jax.tree.map(mean, terminals)


def chosen(
    logits: Float[Array, "terminals options"], temperature: Array | float, hard: Switch
) -> Float[Array, "terminals options"]:
    """How likely each terminal is to take each option: once hard, the likeliest alone."""
    likeliest = jax.nn.one_hot(jnp.argmax(logits, axis=-1), logits.shape[-1])
    return either(hard, likeliest, jnp.exp(log_softmax(logits / temperature)))


def deviation(log_std: Float[Array, " outputs"], hard: Switch) -> Float[Array, " outputs"]:
    """The log-deviation to sample with: none at all once terminals are hard."""
    return either(hard, jnp.full_like(log_std, NEVER), jnp.maximum(log_std, LOG_STD_FLOOR))

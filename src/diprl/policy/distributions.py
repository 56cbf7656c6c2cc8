"""Action distributions for one view: what a policy returns and the loss consumes."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from diprl.policy.kernels import running_totals, total

SMALLEST_PROBABILITY = 1e-10
LOG_TWO_PI = 1.8378770664093453


class Categorical(eqx.Module):
    """A choice among finitely many actions."""

    probabilities: Float[Array, " actions"]

    def log_prob(self, action: Int[Array, ""]) -> Float[Array, ""]:
        # A masked sum instead of an index: its gradient is a product, not a scatter.
        chosen = jnp.arange(self.probabilities.shape[0]) == action
        probability = total(jnp.where(chosen, self.probabilities, 0.0))
        return jnp.log(jnp.maximum(probability, SMALLEST_PROBABILITY))

    def entropy(self) -> Float[Array, ""]:
        p = self.probabilities
        return -total(p * jnp.log(jnp.maximum(p, SMALLEST_PROBABILITY)))

    def sample(self, uniform: Float[Array, " noise"]) -> Int[Array, ""]:
        """The action whose share of [0, 1) holds the first uniform number."""
        passed = uniform[0] >= running_totals(self.probabilities)[:-1]
        return total(passed.astype(jnp.int32))

    def likeliest(self) -> Int[Array, ""]:
        return jnp.argmax(self.probabilities)


class GaussianMixture(eqx.Module):
    """A weighted choice among Gaussians; one component makes it a plain Gaussian."""

    log_weights: Float[Array, " components"]
    means: Float[Array, "components outputs"]
    log_std: Float[Array, " outputs"]

    def log_prob(self, action: Float[Array, " outputs"]) -> Float[Array, ""]:
        deviation = (action - self.means) * jnp.exp(-self.log_std)
        log_density = -0.5 * jnp.sum(deviation**2 + 2.0 * self.log_std + LOG_TWO_PI, axis=-1)
        return jax.nn.logsumexp(self.log_weights + log_density)

    def entropy(self) -> Float[Array, ""]:
        """The entropy of one component: the mixture's has no closed form, and this bounds it from below."""
        return jnp.sum(self.log_std + 0.5 * (1.0 + LOG_TWO_PI))

    def sample(self, uniform: Float[Array, " noise"]) -> Float[Array, " outputs"]:
        """Choose a component by the first number, then its noise by one number per output."""
        component = jnp.sum(uniform[0] >= running_totals(jnp.exp(self.log_weights))[:-1])
        noise = jax.scipy.special.ndtri(jnp.clip(uniform[1:], 1e-6, 1.0 - 1e-6))
        return self.means[component] + jnp.exp(self.log_std) * noise

    def likeliest(self) -> Float[Array, " outputs"]:
        """The mean of the mixture, as a Gaussian policy acts without noise."""
        return jnp.exp(self.log_weights) @ self.means


class Choice(GaussianMixture):
    """One of several actions, carried out with some noise: a mixture whose components, not their noise, should vary."""

    def entropy(self) -> Float[Array, ""]:
        """The entropy of the choice alone."""
        return -total(jnp.exp(self.log_weights) * self.log_weights)

    def likeliest(self) -> Float[Array, " outputs"]:
        return self.means[jnp.argmax(self.log_weights)]


Distribution = Categorical | GaussianMixture

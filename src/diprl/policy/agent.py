"""Everything that learns: a policy, a critic, and the statistics that normalise what they see."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from diprl.policy.base import SOFT, AbstractPolicy, Hardness, Judged, State, Temperatures, either
from diprl.policy.distributions import Distribution
from diprl.policy.mlp import MLP
from diprl.tasks.base import ViewLayout

ROUNDING = 1e-6
"""Part of a number's size that 32 bits do not tell apart."""


class Normaliser(eqx.Module):
    """Running moments of what the critic sees; extraction folds them into the program's numbers."""

    mean: Float[Array, " critic"]
    square_deviation: Float[Array, " critic"]
    low: Float[Array, " critic"]
    high: Float[Array, " critic"]
    count: Float[Array, ""]

    @property
    def scale(self) -> Float[Array, " critic"]:
        """The standard deviation, but never under a tenth of the range, so that a rare event stays a moderate number.

        A feature that has been constant so far, but for rounding, is left as it is.
        """
        varies = self.high - self.low > ROUNDING * jnp.maximum(jnp.abs(self.low), jnp.abs(self.high))
        spread = jnp.sqrt(self.square_deviation / jnp.maximum(self.count, 1.0))
        spread = jnp.maximum(spread, 0.1 * (self.high - self.low))
        return jnp.where((self.count > 0) & varies, spread, 1.0)

    def __call__(self, view: Float[Array, "... critic"]) -> Float[Array, "... critic"]:
        return (view - self.mean) / self.scale

    def update(self, batch: Float[Array, "batch critic"]) -> "Normaliser":
        """Add a batch of views (Chan's parallel variance)."""
        size = jnp.asarray(batch.shape[0], jnp.float32)
        count = self.count + size
        mean = jnp.mean(batch, axis=0)
        shift = mean - self.mean
        seen = self.count > 0
        return Normaliser(
            mean=self.mean + shift * size / count,
            square_deviation=self.square_deviation
            + jnp.sum((batch - mean) ** 2, axis=0)
            + shift**2 * self.count * size / count,
            low=jnp.where(seen, jnp.minimum(self.low, batch.min(axis=0)), batch.min(axis=0)),
            high=jnp.where(seen, jnp.maximum(self.high, batch.max(axis=0)), batch.max(axis=0)),
            count=count,
        )


def make_normaliser(size: int) -> Normaliser:
    """Statistics of nothing yet: the identity until the first update."""
    zeros = jnp.zeros(size)
    return Normaliser(zeros, zeros, zeros, zeros, jnp.zeros(()))


class Agent(eqx.Module):
    """A policy and its critic, both on normalised views."""

    policy: AbstractPolicy
    critic: MLP
    normaliser: Normaliser
    layout: ViewLayout = eqx.field(static=True)

    def see(self, view: Float[Array, "... view"]) -> Float[Array, "... view"]:
        """Views as policy and critic see them: all but the primitives' actions normalised."""
        critic = self.layout.critic
        return jnp.concatenate([self.normaliser(view[..., :critic]), view[..., critic:]], axis=-1)

    def distribution(
        self, seen: Float[Array, " view"], temperatures: Temperatures, hardness: Hardness = SOFT
    ) -> Distribution:
        """The distribution over actions given a view as the agent sees it."""
        return self.policy.distribution(self.state(seen), temperatures, hardness)

    def evaluate(self, seen: Float[Array, "batch view"], actions: Array, temperatures: Temperatures) -> Judged:
        """The log-probability of each action and the entropy of each distribution, for views as the agent sees them."""
        return self.policy.evaluate(self.state(seen), actions, temperatures)

    def state(self, seen: Float[Array, "*batch view"]) -> State:
        """What of a view the policy is given."""
        layout = self.layout
        primitives = seen[..., layout.critic :].reshape(*seen.shape[:-1], layout.primitives, layout.actuators)
        return State(seen[..., : layout.features], primitives)

    def value(self, seen: Float[Array, "*batch view"]) -> Float[Array, "*batch"]:
        """The critic's estimate for views as the agent sees them."""
        return self.critic(seen[..., : self.layout.critic])[..., 0]

    def act(
        self,
        view: Float[Array, " view"],
        uniform: Float[Array, " noise"],
        temperatures: Temperatures,
        hardness: Hardness = SOFT,
    ) -> Int[Array, ""] | Float[Array, " outputs"]:
        """An action for a view as the environment gives it."""
        found = self.distribution(self.see(view), temperatures, hardness)
        return either(hardness.greedy, found.likeliest(), found.sample(uniform))

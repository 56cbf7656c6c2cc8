"""DTSemNet (Panda et al.): a hard decision tree of linear tests, written as a network that gradients pass through.

A complete tree of height h has 2^h − 1 tests D_i(x) = w_i · x + b_i and 2^h leaves. Each leaf scores minus the margins
of the tests on its path that it contradicts, so the leaf that the hard tree reaches scores 0 and every other one less:

    v_l = −Σ |D_i|   over the tests i on the path of l that fail

The published network adds Σ_i |D_i| to every leaf, which changes neither softmax nor argmax.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jax.nn.initializers import orthogonal
from jaxtyping import Array, Float, PRNGKeyArray

from diprl.policy.base import SOFT, AbstractPolicy, Hardness, State, Switch, Temperatures, either
from diprl.policy.distributions import Categorical, Distribution, GaussianMixture
from diprl.policy.terminals import NEVER, AffineTerminals, BlendTerminals, deviation


class ActionLeaves(eqx.Module):
    """Leaves with fixed actions, dealt round-robin from the first leaf on."""

    actions: int = eqx.field(static=True)
    noise_size = 1

    def distribution(self, scores: Float[Array, " leaves"], hard: Switch) -> Distribution:
        """Softmax over each action's best leaf; when hard, the action of the leaf that is reached."""
        reached = jax.nn.one_hot(jnp.argmax(scores) % self.actions, self.actions)
        rounds = -(-scores.shape[0] // self.actions)
        padding = jnp.full(rounds * self.actions - scores.shape[0], NEVER)
        logits = jnp.concatenate([scores, padding]).reshape(rounds, self.actions).max(axis=0)
        return Categorical(either(hard, reached, jax.nn.softmax(logits)))


Leaves = ActionLeaves | BlendTerminals | AffineTerminals
"""Those with numbers have a deviation per leaf."""


class DTSemNet(AbstractPolicy):
    """A complete tree; test i leads to 2i + 1 where it fails and to 2i + 2 where it holds."""

    architecture: Float[Array, "0 2"]
    condition_weights: Float[Array, "conditions features"]
    condition_bias: Float[Array, " conditions"]
    leaves: Leaves

    @property
    def noise_size(self) -> int:
        return self.leaves.noise_size

    @property
    def conditions(self) -> int:
        return self.condition_bias.shape[0]

    def distribution(self, state: State, temperatures: Temperatures, hardness: Hardness = SOFT) -> Distribution:
        scores, leaves, hard = self.leaf_scores(state.features), self.leaves, hardness.terminals
        if isinstance(leaves, ActionLeaves):
            return leaves.distribution(scores, hard)
        gate = straight_through(scores)
        mean = gate @ leaves.means(state, temperatures.terminal)
        return GaussianMixture(jnp.zeros(1), mean[None], deviation(gate @ leaves.log_deviation, hard))

    def leaf_scores(self, features: Float[Array, " features"]) -> Float[Array, " leaves"]:
        """v_l of every leaf, level by level; a test that is exactly 0 fails, since its failing side comes first."""
        margins = self.condition_weights @ features + self.condition_bias
        scores = jnp.zeros(1)
        while (width := scores.shape[0]) <= self.conditions:
            tests = margins[width - 1 : 2 * width - 1]
            both = [scores - jax.nn.relu(tests), scores - jax.nn.relu(-tests)]
            scores = jnp.stack(both, axis=-1).reshape(-1)
        return scores


def make_dtsemnet(features: int, height: int, leaves: Leaves, *, key: PRNGKeyArray) -> DTSemNet:
    """Orthogonal tests with offsets drawn from [0, 1), as published."""
    weight_key, bias_key = jr.split(key)
    conditions = 2**height - 1
    weights = orthogonal()(weight_key, (conditions, features))
    return DTSemNet(jnp.zeros((0, 2)), weights, jr.uniform(bias_key, (conditions,)), leaves)


def straight_through(scores: Float[Array, " leaves"]) -> Float[Array, " leaves"]:
    """One-hot at the best leaf, with the gradient of the softmax."""
    soft = jax.nn.softmax(scores)
    chosen = jax.nn.one_hot(jnp.argmax(scores), scores.shape[0])
    return chosen + (soft - jax.lax.stop_gradient(soft))

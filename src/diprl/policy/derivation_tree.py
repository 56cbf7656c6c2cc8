"""The relaxed program: every if/elif/else chain up to a maximal depth, mixed into one differentiable policy.

Depth d (from 1) is a chain of d − 1 conditions. All depths share the conditions B_i and their then-actions A_i; each
depth owns its last else-action X_d. The policy is the mixture of the terminals' distributions:

    π(a|s) = Σ_i reach_i · P_i · tail_i · A_i(a|s)  +  Σ_d p_d · reach_d · X_d(a|s)

with gates P_i = σ(φ_i / τ), reach_i = Π_{j<i} (1 − P_j) and tail_i the probability that the chain continues past i.
The authors' release mixes the terminals' logits instead, with the same weights; `mixes_logits` does that.
"""

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from diprl.policy.base import SOFT, AbstractPolicy, Hardness, State, Switch, Temperatures, either
from diprl.policy.distributions import Distribution
from diprl.policy.kernels import log_softmax, running_totals, without_gradient_at_zero
from diprl.policy.terminals import NEVER, Terminals, averaged


class DerivationTree(AbstractPolicy):
    """The relaxed program of the paper, with a temperature for each thing that must become discrete."""

    architecture: Float[Array, "levels 2"]
    """Logits of (stop, continue) at each level but the last, which always stops."""
    condition_weights: Float[Array, "levels features"]
    condition_bias: Float[Array, " levels"]
    terminals: Terminals
    """The then-actions A_1 … A_{D−1}, followed by the last else-actions X_1 … X_D."""
    keeps_zeros: bool = eqx.field(static=True, default=False)
    """Whether a condition that does not read a feature goes on not reading it."""
    mixes_logits: bool = eqx.field(static=True, default=False)
    """Whether one distribution is made of the terminals' weighted numbers, instead of mixing their distributions."""

    @property
    def noise_size(self) -> int:
        return self.terminals.noise_size

    @property
    def max_depth(self) -> int:
        return self.architecture.shape[0] + 1

    def distribution(self, state: State, temperatures: Temperatures, hardness: Hardness = SOFT) -> Distribution:
        terminals, log_weights = self.terminals, self.log_terminal_weights(state.features, temperatures, hardness)
        if self.mixes_logits:
            terminals, log_weights = averaged(terminals, jnp.exp(log_weights)), jnp.zeros(1)
        return terminals.mixture(log_weights, state, temperatures.terminal, hardness.terminals)

    def log_terminal_weights(
        self, features: Float[Array, " features"], temperatures: Temperatures, hardness: Hardness = SOFT
    ) -> Float[Array, " terminals"]:
        """The log-probability that each terminal acts in this state."""
        weights = without_gradient_at_zero(self.condition_weights) if self.keeps_zeros else self.condition_weights
        level = weights @ features + self.condition_bias
        log_holds, log_fails = log_sigmoids(level / temperatures.condition)
        log_holds = either(hardness.conditions, jnp.where(level > 0, 0.0, NEVER), log_holds)
        log_fails = either(hardness.conditions, jnp.where(level > 0, NEVER, 0.0), log_fails)
        log_reach = sums_before(log_fails)
        log_depth, log_tail = self.log_shape(temperatures.architecture, hardness.architecture)
        return jnp.concatenate([log_reach[:-1] + log_holds + log_tail, log_reach + log_depth])

    def log_shape(
        self, temperature: Float[Array, ""] | float, hard: Switch = False
    ) -> tuple[Float[Array, " depths"], Float[Array, " levels"]]:
        """log p_d of each depth, and log-probability of continuing past each level."""
        log_choice = log_softmax(self.architecture / temperature)
        log_stop = jnp.concatenate([log_choice[:, 0], jnp.zeros(1)])
        log_passed = sums_before(log_choice[:, 1])
        log_depth, log_tail = log_passed + log_stop, log_passed[1:]
        best, levels = jnp.argmax(log_depth), jnp.arange(self.max_depth)
        log_depth = either(hard, jnp.where(levels == best, 0.0, NEVER), log_depth)
        return log_depth, either(hard, jnp.where(levels[:-1] < best, 0.0, NEVER), log_tail)

    def depth_probabilities(self, temperature: Float[Array, ""] | float = 1.0) -> Float[Array, " depths"]:
        return jnp.exp(self.log_shape(temperature)[0])


def make_tree(
    features: int, max_depth: int, terminals: Terminals, balance: float = 0.0, *, key: PRNGKeyArray
) -> DerivationTree:
    """A tree in which every depth is equally likely and conditions point in random directions.

    Of the longest chain, each leaf is then equally likely too if `balance` is the first temperature of conditions;
    without it the first conditions take nearly all states, and the last ones learn from few.
    """
    weight_key, bias_key = jr.split(key)
    levels = max_depth - 1
    log_others = jnp.log(jnp.arange(levels, 0, -1.0))
    bound = 1.0 / np.sqrt(features)
    random_bias = jr.uniform(bias_key, (levels,), minval=-bound, maxval=bound)
    return DerivationTree(
        architecture=jnp.stack([jnp.zeros(levels), log_others], axis=-1),
        condition_weights=jr.uniform(weight_key, (levels, features), minval=-bound, maxval=bound),
        condition_bias=-balance * log_others if balance else random_bias,
        terminals=terminals,
    )


def sums_before(terms: Float[Array, " levels"]) -> Float[Array, " depths"]:
    """For each depth, the sum of the terms of all levels before it."""
    return jnp.concatenate([jnp.zeros(1), running_totals(terms)])


def log_sigmoids(level: Float[Array, " levels"]) -> tuple[Float[Array, " levels"], Float[Array, " levels"]]:
    """log σ(x) and log σ(−x), which share one logarithm."""
    remainder = jnp.log1p(jnp.exp(-jnp.abs(level)))
    return jnp.minimum(level, 0.0) - remainder, jnp.minimum(-level, 0.0) - remainder

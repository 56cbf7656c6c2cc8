"""What every differentiable policy offers the training engine."""

from abc import abstractmethod
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from diprl.policy.distributions import Distribution


class Temperatures(NamedTuple):
    """How soft each part of a relaxed program is; all three end near zero in a `default` run."""

    architecture: Float[Array, ""] | float = 1.0
    condition: Float[Array, ""] | float = 1.0
    terminal: Float[Array, ""] | float = 0.25


Switch = bool | Bool[Array, ""]
"""Known before compilation where it is a bool; otherwise one compilation serves both."""


class Hardness(NamedTuple):
    """Which parts of a relaxed program are already made discrete: the steps between relaxed policy and program."""

    architecture: Switch = False
    conditions: Switch = False
    terminals: Switch = False
    greedy: Switch = False
    """Whether the likeliest action is taken, not a sampled one."""


SOFT = Hardness()
HARD = Hardness(True, True, True)


class State(NamedTuple):
    """What of a view a policy is given."""

    features: Float[Array, "*batch features"]
    """Normalised."""
    primitives: Float[Array, "*batch primitives actuators"]
    """What each primitive would do."""


Judged = tuple[Float[Array, " batch"], Float[Array, " batch"]]


class AbstractPolicy(eqx.Module):
    """A distribution over actions for each view, and the random numbers that one sample needs."""

    architecture: eqx.AbstractVar[Float[Array, "levels choices"]]
    """Logits of the program's shape, trained by the architecture phase; empty where there is none."""

    @property
    @abstractmethod
    def noise_size(self) -> int:
        """Uniform numbers that one sample consumes."""

    @abstractmethod
    def distribution(self, state: State, temperatures: Temperatures, hardness: Hardness = SOFT) -> Distribution:
        """The distribution over actions in a state."""

    def evaluate(self, states: State, actions: Array, temperatures: Temperatures) -> Judged:
        """The log-probability of each action and the entropy of each distribution, for a batch."""
        return jax.vmap(lambda state, action: judge(self.distribution(state, temperatures), action))(states, actions)

    def depth_probabilities(self, temperature: Float[Array, ""] | float = 1.0) -> Float[Array, " depths"]:
        """The distribution over program shapes; a single shape where there is no choice."""
        return jnp.ones(1)


def judge(distribution: Distribution, action: Array) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The log-probability of an action, and the distribution's entropy."""
    return distribution.log_prob(action), distribution.entropy()


def either(hard: Switch, when_hard: Array, when_soft: Array) -> Array:
    """The first where the switch is on, the second where it is off."""
    if isinstance(hard, bool):
        return when_hard if hard else when_soft
    return jnp.where(hard, when_hard, when_soft)


def entropy(probabilities: Float[Array, " outcomes"]) -> Float[Array, ""]:
    """Shannon entropy in nats; 0 log 0 counts as 0, also in the gradient."""
    possible = probabilities > 0
    return -jnp.sum(jnp.where(possible, probabilities * jnp.log(jnp.where(possible, probabilities, 1.0)), 0.0))

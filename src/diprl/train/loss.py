"""What one minibatch minimises: PPO's clipped objective, the critic's error, and α times the architecture entropy.

The entropy over features joins them where a run asks for it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from diprl.policy.agent import Agent
from diprl.policy.base import Temperatures, entropy
from diprl.train.schedule import Scalar
from diprl.train.sparsity import excess_entropy, feature_entropy
from diprl.train.trajectory import Metrics


class Transitions(NamedTuple):
    """Transitions ready to learn from."""

    seen: Float[Array, "batch view"]
    """Views as the agent sees them, normalised once for the whole update."""
    action: Array
    log_prob: Float[Array, " batch"]
    """Under the policy that acted."""
    advantage: Float[Array, " batch"]
    """As estimated; standardised within each minibatch for the loss."""
    target: Float[Array, " batch"]
    """What the critic should have said."""


class Weights(NamedTuple):
    """The coefficients in force for this update."""

    clip_range: Float[Array, ""]
    entropy: Float[Array, ""]
    value: Float[Array, ""] | float
    alpha: Float[Array, ""]
    features: Float[Array, ""] | None = None
    """Of the entropy over features; None where there is none."""
    enough: Scalar | None = None
    """How many features conditions may read on average before that entropy counts; None where it always does."""


def evaluate_actions(agent: Agent, transitions: Transitions, temperatures: Temperatures) -> tuple[Array, Array, Array]:
    """Log-probability of each action, entropy of each distribution, value of each view."""
    return *agent.evaluate(transitions.seen, transitions.action, temperatures), agent.value(transitions.seen)


def architecture_entropy(agent: Agent, temperatures: Temperatures) -> Float[Array, ""]:
    """H(T) = −Σ_d p_d log p_d."""
    return entropy(agent.policy.depth_probabilities(temperatures.architecture))


def loss(agent: Agent, transitions: Transitions, temperatures: Temperatures, weights: Weights) -> Float[Array, ""]:
    log_prob, action_entropy, value = evaluate_actions(agent, transitions, temperatures)
    ratio = jnp.exp(log_prob - transitions.log_prob)
    clipped = jnp.clip(ratio, 1.0 - weights.clip_range, 1.0 + weights.clip_range)
    objective = jnp.mean(jnp.minimum(ratio * transitions.advantage, clipped * transitions.advantage))
    value_error = jnp.mean((value - transitions.target) ** 2)
    total = (
        -objective
        - weights.entropy * jnp.mean(action_entropy)
        + weights.value * value_error
        + weights.alpha * architecture_entropy(agent, temperatures)
    )
    if weights.features is None:
        return total
    features = feature_entropy(agent) if weights.enough is None else excess_entropy(agent, weights.enough)
    return total + weights.features * features


def diagnostics(agent: Agent, transitions: Transitions, temperatures: Temperatures, clip_range: Array) -> Metrics:
    """The figures that PPO users watch, after an update: from the rollout's first quarter, which is enough to watch."""
    transitions = jax.tree.map(lambda x: x[: max(1, len(x) // 4)], transitions)
    log_prob, action_entropy, value = evaluate_actions(agent, transitions, temperatures)
    log_ratio = log_prob - transitions.log_prob
    ratio = jnp.exp(log_ratio)
    residual = transitions.target - value
    return {
        "train/approx_kl": jnp.mean(ratio - 1.0 - log_ratio),
        "train/clip_fraction": jnp.mean(jnp.abs(ratio - 1.0) > clip_range),
        "train/entropy_loss": -jnp.mean(action_entropy),
        "train/value_loss": jnp.mean(residual**2),
        "train/explained_variance": 1.0 - jnp.var(residual) / jnp.maximum(jnp.var(transitions.target), 1e-8),
    }

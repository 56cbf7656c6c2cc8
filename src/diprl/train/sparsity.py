"""Few features in each condition, learnt by gradient: the paper's entropy, over features instead of depths.

The share of a feature in a condition is its part of the weights' magnitude, over normalised features. A penalty on the
entropy of the shares lets them concentrate. Half-way through the run the penalty ends, small shares become zero and
stay zero, and what is left trains on. The outputs of affine terminals are treated alike.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from diprl.policy.agent import Agent
from diprl.policy.base import entropy
from diprl.policy.derivation_tree import DerivationTree
from diprl.policy.terminals import AffineTerminals
from diprl.train.schedule import Scalar, span
from diprl.train.settings import Settings

REMOVAL = 0.05
"""Part of the run in which small shares are removed."""
NOTHING = 1e-12
"""Added to a sum of magnitudes, so that one without any has shares too."""


def linear_maps(agent: Agent) -> list[Float[Array, "... features"]]:
    """The weights of all conditions and, where terminals are affine, of all outputs."""
    tree = agent.policy
    if not isinstance(tree, DerivationTree):
        return []
    affine = [tree.terminals.weights] if isinstance(tree.terminals, AffineTerminals) else []
    return [tree.condition_weights, *affine]


def shares(weights: Float[Array, "... features"]) -> Float[Array, "... features"]:
    """The part that each feature has in a condition or output."""
    sizes = jnp.abs(weights)
    return sizes / (sizes.sum(axis=-1, keepdims=True) + NOTHING)


def feature_entropy(agent: Agent) -> Float[Array, ""]:
    """The sum over conditions and affine outputs of H(s) = −Σ_j s_j log s_j."""
    return sum((entropy(shares(weights)) for weights in linear_maps(agent)), start=jnp.zeros(()))


def features_read(agent: Agent) -> Float[Array, ""]:
    """How many features a condition or output reads on average: the mean of exp(H)."""
    rows = jnp.concatenate([weights.reshape(-1, weights.shape[-1]) for weights in linear_maps(agent)])
    return jnp.exp(jax.vmap(entropy)(shares(rows))).mean()


def excess_entropy(agent: Agent, enough: Scalar) -> Float[Array, ""]:
    """The entropy over features while conditions read more than `enough` of them, else zero."""
    return jnp.where(features_read(agent) > enough, feature_entropy(agent), 0.0)


def penalty_weight(numbers: Settings, progress: Scalar) -> Float[Array, ""]:
    """Grows as the weight of the architecture entropy does, and ends when small shares are removed."""
    program = numbers.program
    ramp = span(program.architecture_from, program.architecture_to, progress) ** 2
    return jnp.where(progress < program.support_at, program.feature_entropy * ramp, 0.0)


def is_due(numbers: Settings, progress: Scalar) -> Bool[Array, ""]:
    """Whether small shares are removed after this rollout: for a short while from the moment named."""
    begin = numbers.program.support_at
    return jnp.logical_and(progress >= begin, progress <= begin + REMOVAL)


def support(agent: Agent, numbers: Settings, required: tuple[int, ...] = ()) -> Agent:
    """An agent of ones, with zeros in place of the weights whose share is too small; required features stay."""
    ones = jax.tree.map(jnp.ones_like, agent)
    large = [shares(weights) >= numbers.program.smallest_share for weights in linear_maps(agent)]
    kept = [(each.at[..., list(required)].set(True) if required else each).astype(jnp.float32) for each in large]
    return eqx.tree_at(linear_maps, ones, kept)

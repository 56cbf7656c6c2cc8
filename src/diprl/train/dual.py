"""The paper's automatic α: log α ascends while the averaged architecture entropy exceeds its target."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float

from diprl.train.settings import Settings

LARGEST_LOG_ALPHA = 10.0
MEMORY = 0.995
"""How much of the averaged entropy stays from one minibatch to the next."""


class Dual(NamedTuple):
    """log α with its optimiser, and the averaged entropy it is steered by."""

    log_alpha: Float[Array, ""]
    moments: Any
    entropy: Float[Array, ""]


def begin_dual(max_entropy: float) -> Dual:
    start = jnp.float32(-LARGEST_LOG_ALPHA)  # a weakly typed number would compile the second iteration anew
    return Dual(start, optax.scale_by_adam().init(start), jnp.float32(max_entropy))


def dual_alpha(dual: Dual, numbers: Settings) -> Float[Array, ""]:
    """What the dual adds to α; nothing for a run without one in a batch where others have it."""
    return jnp.where(numbers.program.alpha_dual > 0, jnp.exp(dual.log_alpha), 0.0)


def ascend(dual: Dual, entropy: Float[Array, ""], max_entropy: float, numbers: Settings, on: Bool[Array, ""]) -> Dual:
    """One Adam step of log α along (H − H̄), on the averaged entropy; none outside architecture phases."""
    average = MEMORY * dual.entropy + (1.0 - MEMORY) * entropy
    excess = average - numbers.program.target_entropy * max_entropy
    adam = optax.scale_by_adam(eps=numbers.program.dual_epsilon)
    step, moments = adam.update(-excess, dual.moments)
    moved = dual.log_alpha - numbers.program.alpha_dual * jnp.asarray(step)
    log_alpha = jnp.clip(moved, -LARGEST_LOG_ALPHA, LARGEST_LOG_ALPHA)
    return jax.tree.map(lambda new, old: jnp.where(on, new, old), Dual(log_alpha, moments, average), dual)

"""Exploration noise that is correlated in time: a policy that changes its mind at every step seldom gets anywhere."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

EDGE = 1e-6


def correlated(
    uniform: Float[Array, "time envs noise"], correlation: Float[Array, ""] | float
) -> Float[Array, "time envs noise"]:
    """Uniform numbers of which each resembles the one before it, while each by itself stays uniform.

    They pass through Gaussians, where a first-order autoregressive process keeps the distribution unchanged.
    """
    white = jax.scipy.special.ndtri(jnp.clip(uniform, EDGE, 1.0 - EDGE))
    fresh_share = jnp.sqrt(1.0 - correlation**2)

    def blend(before: Array, fresh: Array) -> tuple[Array, Array]:
        now = correlation * before + fresh_share * fresh
        return now, now

    _, later = jax.lax.scan(blend, white[0], white[1:])
    return jax.scipy.special.ndtr(jnp.concatenate([white[:1], later]))

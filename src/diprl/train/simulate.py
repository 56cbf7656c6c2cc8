"""Whole episodes on a JAX twin, compiled: validation while training, the gap of each hardening, search for programs."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, Int, PRNGKeyArray

from diprl.tasks.base import Twin


def episode_returns(
    twin: Twin, act: Callable[[Array, Array], Array], noise_size: int, episodes: int, *, key: PRNGKeyArray
) -> Float[Array, " episodes"]:
    """Returns of independent episodes, in the task's own reward."""
    return episodes_played(twin, act, noise_size, episodes, key=key)[0]


def episodes_played(
    twin: Twin, act: Callable[[Array, Array], Array], noise_size: int, episodes: int, *, key: PRNGKeyArray
) -> tuple[Float[Array, " episodes"], Int[Array, " episodes"]]:
    """Returns and lengths of independent episodes; stops when the last one ends."""
    reset_key, act_key = jr.split(key)
    start = jax.vmap(twin.reset)(jr.uniform(reset_key, (episodes, twin.reset_size)))

    def unfinished(carry: tuple[Any, ...]) -> Array:
        _, alive, _, _, step = carry
        return jnp.any(alive) & (step < twin.horizon)

    def advance(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        state, alive, total, length, step = carry
        noise = jr.uniform(jr.fold_in(act_key, step), (episodes, noise_size))
        action = jax.vmap(act)(jax.vmap(twin.observe)(state), noise)
        state, reward, terminated = jax.vmap(twin.step)(state, action)
        total, length = total + jnp.where(alive, reward, 0.0), length + alive
        return state, alive & ~terminated, total, length, step + 1

    counters = (jnp.zeros(episodes), jnp.zeros(episodes, jnp.int32), jnp.zeros((), jnp.int32))
    carry = (start, jnp.ones(episodes, bool), *counters)
    return jax.lax.while_loop(unfinished, advance, carry)[2:4]

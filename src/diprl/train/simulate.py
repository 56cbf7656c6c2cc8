"""Whole episodes on a JAX twin, compiled: validation in training, the cost of hardening, search over programs."""

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
    """Returns of independent episodes of a policy that acts on one view with some random numbers."""
    reset_key, act_key = jr.split(key)
    states = jax.vmap(twin.reset)(jr.uniform(reset_key, (episodes, twin.reset_size)))

    def act_all(states: Any, step: Array) -> Array:
        noise = jr.uniform(jr.fold_in(act_key, step), (episodes, noise_size))
        return jax.vmap(act)(jax.vmap(twin.observe)(states), noise)

    return play_from(twin, act_all, states)[0]


def play_from(
    twin: Twin, act_all: Callable[[Any, Array], Array], states: Any
) -> tuple[Float[Array, " episodes"], Int[Array, " episodes"]]:
    """Returns, in the task's own reward, and lengths of the episodes that begin in these states.

    `act_all` receives all states and the step number; the loop stops when the last episode ends.
    """
    episodes = jax.tree.leaves(states)[0].shape[0]

    def unfinished(carry: tuple[Any, ...]) -> Array:
        _, alive, _, _, step = carry
        return jnp.any(alive) & (step < twin.horizon)

    def advance(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        states, alive, total, length, step = carry
        states, reward, terminated = jax.vmap(twin.step)(states, act_all(states, step))
        total, length = total + jnp.where(alive, reward, 0.0), length + alive
        return states, alive & ~terminated, total, length, step + 1

    counters = (jnp.zeros(episodes), jnp.zeros(episodes, jnp.int32), jnp.zeros((), jnp.int32))
    return jax.lax.while_loop(unfinished, advance, (states, jnp.ones(episodes, bool), *counters))[2:4]

"""Whole episodes on a JAX twin, compiled: validation in training, the cost of hardening, search over programs."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

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

    return play_until(twin, act_all, begin_lanes(states, jnp.ones(episodes, bool))).total


class Lanes(NamedTuple):
    """Episodes played side by side."""

    states: Any
    alive: Bool[Array, " lanes"]
    total: Float[Array, " lanes"]
    """The return so far, in the task's own reward."""
    length: Int[Array, " lanes"]
    step: Int[Array, ""]


def begin_lanes(states: Any, alive: Bool[Array, " lanes"]) -> Lanes:
    """Episodes about to begin; lanes that are not alive stand still."""
    count = alive.shape[0]
    return Lanes(states, alive, jnp.zeros(count), jnp.zeros(count, jnp.int32), jnp.zeros((), jnp.int32))


def play_until(twin: Twin, act_all: Callable[[Any, Array], Array], lanes: Lanes, few: Array | int = 0) -> Lanes:
    """Play until no more than a few episodes live, or time is up; `act_all` receives all states and the step."""

    def unfinished(lanes: Lanes) -> Array:
        return (jnp.sum(lanes.alive) > few) & (lanes.step < twin.horizon)

    return jax.lax.while_loop(unfinished, lambda lanes: advance(twin, act_all, lanes), lanes)


def advance(twin: Twin, act_all: Callable[[Any, Array], Array], lanes: Lanes) -> Lanes:
    """One step of all episodes."""
    states, reward, terminated = jax.vmap(twin.step)(lanes.states, act_all(lanes.states, lanes.step))
    alive = lanes.alive & ~terminated
    total = lanes.total + jnp.where(lanes.alive, reward, 0.0)
    return Lanes(states, alive, total, lanes.length + lanes.alive, lanes.step + 1)

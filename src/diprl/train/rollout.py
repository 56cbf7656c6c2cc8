"""The compiled collector: a JAX twin and the policy in one scan."""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, Int, PRNGKeyArray

from diprl.policy.agent import Agent
from diprl.policy.base import Temperatures
from diprl.tasks.base import Twin
from diprl.train.trajectory import Episodes, Trajectory

EDGE = 1e-6
"""Uniform numbers keep this distance from 0 and 1 where they become Gaussians."""


class Running(NamedTuple):
    """Environments in mid-episode."""

    state: Any
    view: Float[Array, "envs view"]
    steps: Int[Array, " envs"]
    returns: Float[Array, " envs"]


def begin(twin: Twin, num_envs: int, *, key: PRNGKeyArray) -> Running:
    state = jax.vmap(twin.reset)(jr.uniform(key, (num_envs, twin.reset_size)))
    view = jax.vmap(twin.observe)(state)
    return Running(state, view, jnp.zeros(num_envs, jnp.int32), jnp.zeros(num_envs))


def collect(
    twin: Twin,
    agent: Agent,
    running: Running,
    temperatures: Temperatures,
    num_steps: int,
    noise_correlation: Float[Array, ""] | None = None,
    *,
    key: PRNGKeyArray,
) -> tuple[Running, Trajectory, Episodes]:
    """Step every environment `num_steps` times, starting a fresh episode wherever one ends.

    All random numbers, and all initial states that might be needed, are drawn at once: one large kernel instead of
    one small one per step.
    """
    num_envs = running.steps.shape[0]
    shapes = [(num_steps, num_envs, size) for size in (agent.policy.noise_size, twin.reset_size)]
    noise, chances = uniforms(shapes, key=key)
    if noise_correlation is not None:
        noise = correlated(noise, noise_correlation)
    fresh = jax.vmap(jax.vmap(twin.reset))(chances)
    fresh_view = jax.vmap(jax.vmap(twin.observe))(fresh)

    def step(running: Running, inputs: tuple[Array, Any, Array]) -> tuple[Running, Any]:
        noise, fresh, fresh_view = inputs
        action = jax.vmap(agent.act, in_axes=(0, 0, None))(running.view, noise, temperatures)
        state, reward, terminated = jax.vmap(twin.step)(running.state, action)
        next_view = jax.vmap(twin.observe)(state)
        steps, returns = running.steps + 1, running.returns + reward
        done = terminated | (steps >= twin.horizon)
        transition = Trajectory(running.view, action, reward, next_view, terminated, done)
        ended = jnp.stack([done.sum(), jnp.sum(returns * done), jnp.sum(steps * done)]).astype(jnp.float32)
        running = Running(
            state=jax.tree.map(lambda new, old: select(done, new, old), fresh, state),
            view=select(done, fresh_view, next_view),
            steps=jnp.where(done, 0, steps),
            returns=jnp.where(done, 0.0, returns),
        )
        return running, (transition, ended)

    running, (trajectory, ended) = jax.lax.scan(step, running, (noise, fresh, fresh_view))
    return running, trajectory, Episodes(*ended.sum(axis=0))


def uniforms(shapes: Sequence[tuple[int, ...]], *, key: PRNGKeyArray) -> list[Float[Array, "..."]]:
    """Uniform numbers in several shapes, as `jax.random.uniform` draws them from one key each.

    All are cut from rows of one length: drawing is slow to compile, and so it is compiled once.
    """
    longest = max(prod(shape) for shape in shapes)
    rows = jax.vmap(lambda key: jr.uniform(key, (longest,)))(jr.split(key, len(shapes)))
    return [row[: prod(shape)].reshape(shape) for row, shape in zip(rows, shapes, strict=True)]


def select(mask: Array, chosen: Array, other: Array) -> Array:
    """Take `chosen` where the mask holds, whatever the trailing shape."""
    return jnp.where(mask.reshape(mask.shape + (1,) * (chosen.ndim - mask.ndim)), chosen, other)


def correlated(uniform: Float[Array, "time envs noise"], correlation: Array | float) -> Float[Array, "time envs noise"]:
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

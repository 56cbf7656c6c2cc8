"""What collectors hand to the update, and the advantages computed from it."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


class Trajectory(NamedTuple):
    """One rollout, time first, then environments."""

    view: Float[Array, "time envs view"]
    action: Array
    reward: Float[Array, "time envs"]
    next_view: Float[Array, "time envs view"]
    """What the action led to, before any reset."""
    terminated: Bool[Array, "time envs"]
    """The task ended: nothing follows."""
    done: Bool[Array, "time envs"]
    """The episode ended, by termination or by the time limit; after the latter the return goes on."""


Metrics = dict[str, Float[Array, ""]]


class Episodes(NamedTuple):
    """Sums over the episodes that ended in a rollout, in the task's own reward."""

    count: Float[Array, ""]
    total_return: Float[Array, ""]
    total_length: Float[Array, ""]


def advantages(
    trajectory: Trajectory,
    values: Float[Array, "time envs"],
    next_values: Float[Array, "time envs"],
    gamma: Float[Array, ""] | float,
    gae_lambda: Float[Array, ""] | float,
) -> Float[Array, "time envs"]:
    """Generalised advantage estimates: a terminated step has no successor, a truncated one bootstraps from its own."""
    bootstrap = jnp.where(trajectory.terminated, 0.0, next_values)
    error = trajectory.reward + gamma * bootstrap - values
    decay = jnp.where(trajectory.done, 0.0, gamma * gae_lambda)

    def backwards(carry: Array, step: tuple[Array, Array]) -> tuple[Array, Array]:
        carry = step[0] + step[1] * carry
        return carry, carry

    _, result = jax.lax.scan(backwards, jnp.zeros_like(values[0]), (error, decay), reverse=True, unroll=8)
    return result


def episode_metrics(episodes: Episodes) -> Metrics:
    """Means over the episodes that ended; not a number where none did."""
    return {
        "rollout/ep_rew_mean": episodes.total_return / episodes.count,
        "rollout/ep_len_mean": episodes.total_length / episodes.count,
    }


def discounted_returns(
    start: Float[Array, " envs"],
    reward: Float[Array, "time envs"],
    done: Bool[Array, "time envs"],
    gamma: Float[Array, ""] | float,
) -> tuple[Float[Array, " envs"], Float[Array, "time envs"]]:
    """The discounted sum of rewards so far in each episode, carried from one rollout to the next."""

    def forwards(carry: Array, step: tuple[Array, Array]) -> tuple[Array, Array]:
        total = gamma * carry + step[0]
        return jnp.where(step[1], 0.0, total), total

    return jax.lax.scan(forwards, start, (reward, done))

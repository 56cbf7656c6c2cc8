"""The PPO engine: one compiled iteration that any method, any task and any number of seeds go through.

    iteration = collect a rollout -> advantages -> epochs of minibatches -> new normalisation

`update` is everything after collecting, so that environments outside JAX feed the very same code.
"""

from math import log
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from diprl.policy.agent import Agent, Normaliser, make_normaliser
from diprl.policy.base import Temperatures
from diprl.tasks.base import Task, Twin
from diprl.train import schedule
from diprl.train.compiling import compiled
from diprl.train.config import Config, Hyper
from diprl.train.loss import Batch, Weights, architecture_entropy, diagnostics, evaluate_actions, loss
from diprl.train.parameters import (
    Blueprint,
    Groups,
    Moments,
    StepSize,
    Vector,
    begin_moments,
    descend,
    step_sizes,
)
from diprl.train.rollout import Running, begin, collect
from diprl.train.trajectory import Episodes, Trajectory, advantages

adam = optax.scale_by_adam(eps=1e-5)
DUAL_MEMORY = 0.995
FROZEN_ENTROPY = 1e-4
Metrics = dict[str, Float[Array, ""]]


class Dual(NamedTuple):
    """The paper's automatic α: log α ascends while the averaged architecture entropy exceeds its target."""

    log_alpha: Float[Array, ""]
    moments: Any
    entropy: Float[Array, ""]


class TrainState(NamedTuple):
    """All that a run is at one moment: continuing from it is continuing the run."""

    vector: Vector
    moments: Moments
    taken: Float[Array, " groups"]
    """Gradient steps that each group has taken."""
    normaliser: Normaliser
    dual: Dual
    reward_scale: Normaliser
    discounted: Float[Array, " envs"]
    rollout: Int[Array, ""]
    key: PRNGKeyArray
    running: Running | None
    """The twin's environments; None where the environments live outside JAX."""


class Engine:
    """Compiled training of one kind of agent on one task."""

    def __init__(self, task: Task, config: Config, agent: Agent) -> None:
        self.task, self.config = task, config
        self.blueprint = Blueprint(agent)
        self.twin: Twin | None = task.twin() if task.twin else None
        depths = jax.eval_shape(agent.policy.depth_probabilities).shape[0]
        self.max_entropy = log(max(depths, 2))
        self.noise_size = agent.policy.noise_size
        self.has_dual = config.alpha_dual > 0 and agent.policy.architecture.size > 0
        """Where no run has the dual, it is left out of the compiled code."""
        self.compiled_iteration = compiled(self.iteration, donate_argnums=0)
        self.compiled_update = compiled(self.update, donate_argnums=0)
        self.compiled_act = compiled(self.act)
        self.compiled_agent = jax.jit(self.agent)

    def begin(self, agent: Agent, *, key: PRNGKeyArray) -> TrainState:
        key, env_key = jr.split(key)
        vector = self.blueprint.flatten(agent)
        num_envs = self.config.num_envs
        start = jnp.float32(-10.0)  # a weakly typed number would compile the second iteration anew
        return TrainState(
            vector=vector,
            moments=begin_moments(vector),
            taken=jnp.zeros(len(Groups._fields)),
            normaliser=agent.normaliser,
            dual=Dual(start, adam.init(start), jnp.float32(self.max_entropy)),
            reward_scale=make_reward_scale(),
            discounted=jnp.zeros(num_envs),
            rollout=jnp.zeros((), jnp.int32),
            key=key,
            running=begin(self.twin, num_envs, key=env_key) if self.twin else None,
        )

    def agent(self, state: TrainState) -> Agent:
        return self.blueprint.build(state.vector, state.normaliser)

    def act(
        self, vector: Vector, normaliser: Normaliser, temperatures: Temperatures, views: Array, noise: Array
    ) -> Array:
        """Sample an action for each view."""
        agent = self.blueprint.build(vector, normaliser)
        return jax.vmap(agent.act, in_axes=(0, 0, None))(views, noise, temperatures)

    def iteration(self, state: TrainState, hyper: Hyper, num_rollouts: Array) -> tuple[TrainState, Metrics]:
        """One rollout on the twin and the update from it."""
        if self.twin is None or state.running is None:
            raise ValueError(f"{self.task.name} has no twin to collect from")
        key, collect_key = jr.split(state.key)
        progress = state.rollout / num_rollouts
        temperatures = schedule.temperatures(hyper, progress)
        correlation = self.config.noise_correlation
        running, trajectory, episodes = collect(
            self.twin,
            self.agent(state),
            state.running,
            temperatures,
            self.config.num_steps,
            schedule.noise_correlation(correlation, progress) if correlation else None,
            key=collect_key,
        )
        state = state._replace(key=key, running=running)
        return self.update(state, trajectory, episodes, hyper, num_rollouts)

    def update(
        self, state: TrainState, trajectory: Trajectory, episodes: Episodes, hyper: Hyper, num_rollouts: Array
    ) -> tuple[TrainState, Metrics]:
        """Learn from one rollout."""
        progress = state.rollout / num_rollouts
        temperatures = schedule.temperatures(hyper, progress)
        state, trajectory = self.shape_rewards(state, trajectory, hyper)
        batch = self.batch(self.agent(state), trajectory, temperatures, hyper)
        state, metrics = self.optimise(state, batch, temperatures, hyper, progress)
        metrics |= episode_metrics(episodes)
        if self.config.normalise:
            views = trajectory.view.reshape(-1, trajectory.view.shape[-1])[
                :, : state.normaliser.mean.shape[0]
            ]
            state = state._replace(normaliser=state.normaliser.update(views))
        return state._replace(rollout=state.rollout + 1), metrics

    def shape_rewards(
        self, state: TrainState, trajectory: Trajectory, hyper: Hyper
    ) -> tuple[TrainState, Trajectory]:
        """Add the task's potential and, where asked for, divide by the running deviation of returns."""
        reward = trajectory.reward
        if self.task.potential is not None:
            reward = (
                reward
                + hyper.gamma * self.task.potential(trajectory.next_view)
                - self.task.potential(trajectory.view)
            )
        if self.config.scale_rewards:
            discounted, returns = discounted_returns(state.discounted, reward, trajectory.done, hyper.gamma)
            reward_scale = state.reward_scale.update(returns.reshape(-1, 1))
            reward = reward / reward_scale.scale[0]
            state = state._replace(discounted=discounted, reward_scale=reward_scale)
        return state, trajectory._replace(reward=reward)

    def batch(self, agent: Agent, trajectory: Trajectory, temperatures: Temperatures, hyper: Hyper) -> Batch:
        """Flatten time and environments, with advantages and the acting policy's log-probabilities."""
        shape = trajectory.reward.shape
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), trajectory)
        zeros = jnp.zeros(flat.reward.shape)
        batch = Batch(agent.see(flat.view), flat.action, zeros, zeros, zeros)
        log_prob, _, value = evaluate_actions(agent, batch, temperatures)
        next_value = agent.value(agent.see(flat.next_view))
        advantage = advantages(
            trajectory, value.reshape(shape), next_value.reshape(shape), hyper.gamma, hyper.gae_lambda
        ).reshape(-1)
        return batch._replace(log_prob=log_prob, advantage=advantage, target=advantage + value)

    def optimise(
        self, state: TrainState, batch: Batch, temperatures: Temperatures, hyper: Hyper, progress: Array
    ) -> tuple[TrainState, Metrics]:
        """Epochs of minibatches; each epoch shuffles the rollout once and then reads it in order."""
        learning_rate = schedule.linear(hyper.learning_rate, hyper.learning_rate_end, progress)
        weights = Weights(
            clip_range=schedule.linear(hyper.clip_range, hyper.clip_range_end, progress),
            entropy=schedule.linear(hyper.entropy_coefficient, hyper.entropy_coefficient_end, progress),
            value=hyper.value_coefficient,
            alpha=schedule.ramped_alpha(hyper, progress),
        )
        active = self.active_groups(state, temperatures)

        def objective(vector: Vector, minibatch: Batch, weights: Weights) -> Array:
            return loss(self.blueprint.build(vector, state.normaliser), minibatch, temperatures, weights)

        def minibatch_step(carry: tuple, inputs: tuple[Batch, StepSize]) -> tuple[tuple, None]:
            vector, moments, dual = carry
            minibatch, size = inputs
            in_force = weights._replace(alpha=weights.alpha + self.dual_alpha(dual, hyper))
            gradient = jax.grad(objective)(vector, minibatch, in_force)
            if self.has_dual:
                agent = self.blueprint.build(vector, state.normaliser)
                dual = self.ascend(dual, agent, temperatures, hyper, active[0])
            vector, moments = descend(
                self.blueprint, vector, moments, gradient, active, size, hyper.max_grad_norm
            )
            return (vector, moments, dual), None

        def epoch(carry: tuple, inputs: tuple[Array, StepSize]) -> tuple[tuple, None]:
            order, sizes = inputs
            return jax.lax.scan(minibatch_step, carry, (self.shuffled(batch, order), sizes))

        epochs, minibatches = self.config.num_epochs, self.config.num_minibatches
        sizes = step_sizes(state.taken, active, learning_rate, epochs * minibatches)
        sizes = jax.tree.map(lambda x: x.reshape(epochs, minibatches, -1), sizes)
        key, *epoch_keys = jr.split(state.key, epochs + 1)
        orders = random_orders(self.config.rollout_size, jnp.stack(epoch_keys))
        carry = (state.vector, state.moments, state.dual)
        (vector, moments, dual), _ = jax.lax.scan(epoch, carry, (orders, sizes))
        taken = state.taken + epochs * minibatches * active
        state = state._replace(vector=vector, moments=moments, taken=taken, dual=dual, key=key)
        agent = self.agent(state)
        depths = agent.policy.depth_probabilities(temperatures.architecture)
        metrics = diagnostics(agent, batch, temperatures, weights.clip_range) | {
            "train/learning_rate": learning_rate,
            "train/clip_range": weights.clip_range,
            "train/alpha": weights.alpha + self.dual_alpha(dual, hyper),
            "train/architecture_entropy": architecture_entropy(agent, temperatures) / self.max_entropy,
            "train/condition_temperature": jnp.asarray(temperatures.condition),
            **{f"train/prog_depth_{d + 1}_prob": depths[d] for d in range(depths.shape[0])},
        }
        return state, metrics

    def shuffled(self, batch: Batch, order: Int[Array, " batch"]) -> Batch:
        """The rollout in the given order, cut into minibatches; one gather of whole rows moves all fields."""
        rows, unravel = pack_rows(batch)
        minibatches = jax.vmap(jax.vmap(unravel))(
            rows[order].reshape(-1, self.config.minibatch_size, rows.shape[-1])
        )
        return minibatches._replace(advantage=standardised(minibatches.advantage))

    def active_groups(self, state: TrainState, temperatures: Temperatures) -> Bool[Array, " groups"]:
        """Which groups learn in this rollout: all together, or the architecture and the program by turns."""
        agent = self.agent(state)
        if agent.policy.architecture.shape[0] == 0:
            return jnp.array(Groups(False, True, True))
        open_choice = architecture_entropy(agent, temperatures) >= FROZEN_ENTROPY
        period = self.config.architecture_period
        if period == 0:
            return jnp.array(Groups(open_choice, True, True))
        turn = state.rollout % period == 0
        return jnp.array(Groups(turn & open_choice, ~turn, True))

    def dual_alpha(self, dual: Dual, hyper: Hyper) -> Array | float:
        """What the dual adds to α; nothing for a run without one in a batch where others have it."""
        return jnp.where(hyper.alpha_dual > 0, jnp.exp(dual.log_alpha), 0.0) if self.has_dual else 0.0

    def ascend(self, dual: Dual, agent: Agent, temperatures: Temperatures, hyper: Hyper, on: Array) -> Dual:
        """One Adam step of log α along (H − H̄), on the averaged entropy, in architecture phases only."""
        now = architecture_entropy(agent, temperatures)
        average = DUAL_MEMORY * dual.entropy + (1.0 - DUAL_MEMORY) * now
        excess = average - hyper.target_entropy * self.max_entropy
        direction, moments = adam.update(-excess, dual.moments)
        log_alpha = jnp.clip(dual.log_alpha - hyper.alpha_dual * direction, -10.0, 10.0)
        return jax.tree.map(lambda new, old: jnp.where(on, new, old), Dual(log_alpha, moments, average), dual)


def pack_rows(batch: Batch) -> tuple[Float[Array, "batch width"], Any]:
    """Each transition as one row of numbers, and the way back."""
    unravel = ravel_pytree(jax.tree.map(lambda x: x[0], batch))[1]
    return jax.vmap(lambda transition: ravel_pytree(transition)[0])(batch), unravel


def standardised(advantage: Float[Array, "minibatches batch"]) -> Float[Array, "minibatches batch"]:
    """Mean 0 and deviation 1 in every minibatch."""
    mean = advantage.mean(axis=-1, keepdims=True)
    return (advantage - mean) / (advantage.std(axis=-1, keepdims=True) + 1e-8)


def random_orders(size: int, keys: PRNGKeyArray) -> Int[Array, "keys size"]:
    return jax.vmap(lambda key: random_order(size, key=key))(keys)


def random_order(size: int, *, key: PRNGKeyArray) -> Int[Array, " size"]:
    """A random permutation by sorting random numbers that carry their index in the low bits.

    Sorting one array of integers is several times faster than `jax.random.permutation`, which sorts pairs twice.
    """
    index_bits = jnp.uint32((1 << (size - 1).bit_length()) - 1)
    marked = (jr.bits(key, (size,), jnp.uint32) & ~index_bits) | jnp.arange(size, dtype=jnp.uint32)
    return (jnp.sort(marked) & index_bits).astype(jnp.int32)


def episode_metrics(episodes: Episodes) -> Metrics:
    """Means over the episodes that ended; not a number where none did."""
    return {
        "rollout/ep_rew_mean": episodes.total_return / episodes.count,
        "rollout/ep_len_mean": episodes.total_length / episodes.count,
    }


def make_reward_scale() -> Normaliser:
    return make_normaliser(1)


def discounted_returns(
    start: Float[Array, " envs"], reward: Float[Array, "time envs"], done: Array, gamma: Float[Array, ""]
) -> tuple[Float[Array, " envs"], Float[Array, "time envs"]]:
    """The discounted sum of rewards so far in each episode, carried from one rollout to the next."""

    def forwards(carry: Array, step: tuple[Array, Array]) -> tuple[Array, Array]:
        total = gamma * carry + step[0]
        return jnp.where(step[1], 0.0, total), total

    return jax.lax.scan(forwards, start, (reward, done))

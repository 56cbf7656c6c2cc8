"""The PPO engine: one compiled iteration that any method, any task and any number of seeds go through.

    iteration = collect a rollout -> advantages -> epochs of minibatches -> new normalisation

`update` is everything after collecting, so that environments outside JAX feed the very same code.
"""

from functools import partial
from math import log
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from diprl.policy.agent import Agent, Normaliser, make_normaliser
from diprl.policy.base import Temperatures
from diprl.tasks.base import Task, Twin
from diprl.train import schedule, sparsity
from diprl.train.compiling import compiled
from diprl.train.dual import Dual, ascend, begin_dual, dual_alpha
from diprl.train.loss import Transitions, Weights, architecture_entropy, diagnostics, evaluate_actions, loss
from diprl.train.minibatches import SMALL, random_orders, shuffled
from diprl.train.parameters import Blueprint, Groups, Moments, StepSize, Vector, begin_moments, descend, step_sizes
from diprl.train.rollout import Running, begin, collect
from diprl.train.settings import Settings
from diprl.train.trajectory import Episodes, Metrics, Trajectory, advantages, discounted_returns, episode_metrics

FROZEN_ENTROPY = 1e-4
"""Architecture entropy below which the stop/continue choices no longer move."""


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

    def __init__(self, task: Task, settings: Settings, agent: Agent) -> None:
        self.task, self.settings = task, settings
        self.blueprint = Blueprint(agent)
        self.twin: Twin | None = task.twin() if task.twin else None
        self.max_entropy = log(max(jax.eval_shape(agent.policy.depth_probabilities).shape[0], 2))
        self.noise_size = agent.policy.noise_size
        self.has_dual = settings.program.alpha_dual > 0 and agent.policy.architecture.size > 0
        self.has_features = settings.program.feature_entropy > 0 and agent.policy.architecture.size > 0
        """Where no run has the dual or the entropy over features, they are left out of the compiled code."""
        self.compiled_iteration = compiled(self.iteration, donate_argnums=0)
        self.compiled_update = compiled(self.update, donate_argnums=0)
        self.compiled_act = compiled(self.act)
        self.compiled_agent = jax.jit(self.agent)

    def begin(self, agent: Agent, *, key: PRNGKeyArray) -> TrainState:
        key, env_key = jr.split(key)
        vector = self.blueprint.flatten(agent)
        num_envs = self.settings.ppo.num_envs
        return TrainState(
            vector=vector,
            moments=begin_moments(vector),
            taken=jnp.zeros(len(Groups._fields)),
            normaliser=agent.normaliser,
            dual=begin_dual(self.max_entropy),
            reward_scale=make_normaliser(1),
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

    def iteration(self, state: TrainState, numbers: Settings, num_rollouts: Array) -> tuple[TrainState, Metrics]:
        """One rollout on the twin and the update from it."""
        assert self.twin is not None  # others have a host that collects
        assert state.running is not None  # as in every state on a twin
        key, collect_key = jr.split(state.key)
        progress = state.rollout / num_rollouts
        temperatures = schedule.temperatures(numbers, progress)
        correlation = self.settings.ppo.noise_correlation
        running, trajectory, episodes = collect(
            self.twin,
            self.agent(state),
            state.running,
            temperatures,
            self.settings.ppo.num_steps,
            schedule.noise_correlation(correlation, progress) if correlation else None,
            key=collect_key,
        )
        state = state._replace(key=key, running=running)
        return self.update(state, trajectory, episodes, numbers, num_rollouts)

    def update(
        self, state: TrainState, trajectory: Trajectory, episodes: Episodes, numbers: Settings, num_rollouts: Array
    ) -> tuple[TrainState, Metrics]:
        """Learn from one rollout."""
        progress = state.rollout / num_rollouts
        temperatures = schedule.temperatures(numbers, progress)
        state, trajectory = self.shape_rewards(state, trajectory, numbers)
        transitions = self.transitions(self.agent(state), trajectory, temperatures, numbers)
        state, metrics = self.optimise(state, transitions, temperatures, numbers, progress)
        metrics |= episode_metrics(episodes)
        if self.has_features:
            state = self.fix_support(state, sparsity.is_due(numbers, progress), numbers)
        if self.settings.ppo.normalise:
            views = trajectory.view.reshape(-1, trajectory.view.shape[-1])[:, : state.normaliser.mean.shape[0]]
            updated, moves = state.normaliser.update(views), progress < numbers.ppo.statistics_until
            state = state._replace(normaliser=jax.tree.map(partial(jnp.where, moves), updated, state.normaliser))
        return state._replace(rollout=state.rollout + 1), metrics

    def shape_rewards(
        self, state: TrainState, trajectory: Trajectory, numbers: Settings
    ) -> tuple[TrainState, Trajectory]:
        """Add the task's potential and, where asked for, divide by the running deviation of returns."""
        reward, potential = trajectory.reward, self.task.potential
        if potential is not None:
            reward = reward + numbers.ppo.gamma * potential(trajectory.next_view) - potential(trajectory.view)
        if self.settings.ppo.scale_rewards:
            discounted, returns = discounted_returns(state.discounted, reward, trajectory.done, numbers.ppo.gamma)
            reward_scale = state.reward_scale.update(returns.reshape(-1, 1))
            reward = reward / reward_scale.scale[0]
            state = state._replace(discounted=discounted, reward_scale=reward_scale)
        return state, trajectory._replace(reward=reward)

    def transitions(
        self, agent: Agent, trajectory: Trajectory, temperatures: Temperatures, numbers: Settings
    ) -> Transitions:
        """Flatten time and environments, with advantages and the acting policy's log-probabilities."""
        shape = trajectory.reward.shape
        flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), trajectory)
        zeros = jnp.zeros(flat.reward.shape)
        transitions = Transitions(agent.see(flat.view), flat.action, zeros, zeros, zeros)
        log_prob, _, value = evaluate_actions(agent, transitions, temperatures)
        next_value = agent.value(agent.see(flat.next_view))
        values = value.reshape(shape), next_value.reshape(shape)
        advantage = advantages(trajectory, *values, numbers.ppo.gamma, numbers.ppo.gae_lambda).reshape(-1)
        return transitions._replace(log_prob=log_prob, advantage=advantage, target=advantage + value)

    def optimise(
        self,
        state: TrainState,
        transitions: Transitions,
        temperatures: Temperatures,
        numbers: Settings,
        progress: Array,
    ) -> tuple[TrainState, Metrics]:
        """Epochs of minibatches; each epoch shuffles the rollout once and then reads it in order."""
        learning_rate = schedule.linear(numbers.ppo.learning_rate, numbers.ppo.learning_rate_end, progress)
        weights = Weights(
            clip_range=schedule.linear(numbers.ppo.clip_range, numbers.ppo.clip_range_end, progress),
            entropy=schedule.linear(numbers.ppo.entropy_coefficient, numbers.ppo.entropy_coefficient_end, progress),
            value=numbers.ppo.value_coefficient,
            alpha=schedule.ramped_alpha(numbers, progress),
            features=sparsity.penalty_weight(numbers, progress) if self.has_features else None,
            enough=numbers.program.enough_features if self.settings.program.enough_features else None,
        )
        active = self.active_groups(state, temperatures)

        def objective(vector: Vector, minibatch: Transitions, weights: Weights) -> Array:
            return loss(self.blueprint.build(vector, state.normaliser), minibatch, temperatures, weights)

        def minibatch_step(carry: tuple, inputs: tuple[Transitions, StepSize]) -> tuple[tuple, None]:
            vector, moments, dual = carry
            minibatch, size = inputs
            in_force = weights._replace(alpha=weights.alpha + self.extra_alpha(dual, numbers))
            gradient = jax.grad(objective)(vector, minibatch, in_force)
            if self.has_dual:
                agent = self.blueprint.build(vector, state.normaliser)
                entropy = architecture_entropy(agent, temperatures)
                dual = ascend(dual, entropy, self.max_entropy, numbers, active[0])
            most = numbers.ppo.max_grad_norm
            vector, moments = descend(self.blueprint, vector, moments, gradient, active, size, most)
            return (vector, moments, dual), None

        def epoch(carry: tuple, inputs: tuple[Array, StepSize]) -> tuple[tuple, None]:
            order, sizes = inputs
            minibatches = shuffled(transitions, order, minibatch_size, smallest)
            return jax.lax.scan(minibatch_step, carry, (minibatches, sizes))

        ppo = self.settings.ppo
        smallest = SMALL if ppo.quiet else 0.0
        epochs, minibatches, minibatch_size = ppo.num_epochs, ppo.num_minibatches, ppo.minibatch_size
        sizes = step_sizes(state.taken, active, learning_rate, epochs * minibatches)
        sizes = jax.tree.map(lambda x: x.reshape(epochs, minibatches, -1), sizes)
        key, *epoch_keys = jr.split(state.key, epochs + 1)
        orders = random_orders(ppo.rollout_size, jnp.stack(epoch_keys))
        carry = (state.vector, state.moments, state.dual)
        (vector, moments, dual), _ = jax.lax.scan(epoch, carry, (orders, sizes))
        taken = state.taken + epochs * minibatches * active
        state = state._replace(vector=vector, moments=moments, taken=taken, dual=dual, key=key)
        return state, self.measure(state, transitions, temperatures, weights) | {
            "train/learning_rate": learning_rate,
            "train/alpha": weights.alpha + self.extra_alpha(dual, numbers),
        }

    def fix_support(self, state: TrainState, due: Array, numbers: Settings) -> TrainState:
        """At the moment for it, small weights become zero; without moments and gradient they stay zero."""
        stays = self.blueprint.flatten(sparsity.support(self.agent(state), numbers, self.task.required))
        stays = jnp.where(due, stays, 1.0)
        moments = Moments(*(moment * stays for moment in state.moments))
        return state._replace(vector=state.vector * stays, moments=moments)

    def measure(
        self, state: TrainState, transitions: Transitions, temperatures: Temperatures, weights: Weights
    ) -> Metrics:
        """What users watch after an update: PPO's figures and how far the architecture has settled."""
        agent = self.agent(state)
        depths = agent.policy.depth_probabilities(temperatures.architecture)
        return diagnostics(agent, transitions, temperatures, weights.clip_range) | {
            "train/clip_range": weights.clip_range,
            "train/advantage_range": jnp.ptp(transitions.advantage) * state.reward_scale.scale[0],
            "train/architecture_entropy": architecture_entropy(agent, temperatures) / self.max_entropy,
            "train/condition_temperature": jnp.asarray(temperatures.condition),
            **{f"train/prog_depth_{d + 1}_prob": depths[d] for d in range(depths.shape[0])},
        }

    def active_groups(self, state: TrainState, temperatures: Temperatures) -> Bool[Array, " groups"]:
        """Which groups learn in this rollout: all together, or the architecture and the program by turns."""
        agent = self.agent(state)
        if agent.policy.architecture.shape[0] == 0:
            return jnp.array(Groups(False, True, True))
        open_choice = architecture_entropy(agent, temperatures) >= FROZEN_ENTROPY
        period = self.settings.program.architecture_period
        if period == 0:
            return jnp.array(Groups(open_choice, True, True))
        turn = state.rollout % period == 0
        waits = turn if self.settings.program.idle_turns else turn & open_choice
        return jnp.array(Groups(turn & open_choice, ~waits, True))

    def extra_alpha(self, dual: Dual, numbers: Settings) -> Array | float:
        """What the dual adds to α."""
        return dual_alpha(dual, numbers) if self.has_dual else 0.0

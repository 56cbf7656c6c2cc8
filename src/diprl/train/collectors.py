"""How training advances by one rollout: on the twin, on the twin for many runs at once, or outside JAX."""

from collections.abc import Sequence
from functools import partial
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from diprl.policy.base import Temperatures
from diprl.tasks.base import Environments
from diprl.train import schedule
from diprl.train.compiling import compiled
from diprl.train.engine import Engine, Metrics, TrainState
from diprl.train.rollout import correlated
from diprl.train.settings import Settings
from diprl.train.trajectory import Episodes, Trajectory

compiled_correlated = jax.jit(correlated)


@runtime_checkable
class Scheduled(Protocol):
    """Environments that change over a run, such as a reward that asks for more and more."""

    def set_progress(self, fraction: float) -> None: ...


class TwinCollector:
    """Everything in one compiled call."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self.rollouts, self.numbers = settings.ppo.num_rollouts, settings.numbers()
        self.iteration = engine.compiled_iteration

    def advance(self, state: TrainState) -> tuple[TrainState, Metrics]:
        return self.iteration(state, self.numbers, np.float32(self.rollouts))

    def renew(self) -> None:
        """The environments are part of the state."""

    def close(self) -> None:
        """Nothing to release."""


class BatchCollector(TwinCollector):
    """Many runs on a twin in one compiled call; every leaf of the state has an axis of runs in front."""

    def __init__(self, engine: Engine, settings: Sequence[Settings]) -> None:
        super().__init__(engine, settings[0])
        self.numbers = jax.tree.map(lambda *values: np.stack(values), *(each.numbers() for each in settings))
        self.iteration = compiled(jax.vmap(engine.iteration, in_axes=(0, 0, None)), donate_argnums=0)


class HostCollector:
    """Environments stepped by the host; acting and learning are compiled."""

    def __init__(self, engine: Engine, settings: Settings, environments: Environments, seed: int) -> None:
        self.engine, self.settings, self.environments, self.seed = engine, settings, environments, seed
        self.rollouts, self.numbers = settings.ppo.num_rollouts, settings.numbers()
        self.view: np.ndarray | None = None
        self.returns = np.zeros(settings.ppo.num_envs)
        self.lengths = np.zeros(settings.ppo.num_envs)

    def advance(self, state: TrainState) -> tuple[TrainState, Metrics]:
        rollout = int(state.rollout)
        if self.view is None:
            self.view = self.environments.reset(self.seed + 7919 * rollout)
        progress = jnp.float32(rollout) / np.float32(self.rollouts)
        if isinstance(self.environments, Scheduled):
            self.environments.set_progress(float(progress))
        temperatures = schedule.temperatures(self.numbers, progress)
        trajectory, episodes = self.collect(state, temperatures, self.noise(rollout))
        return self.engine.compiled_update(state, trajectory, episodes, self.numbers, np.float32(self.rollouts))

    def noise(self, rollout: int) -> np.ndarray:
        """The random numbers of a rollout, which depend on it and the seed only."""
        ppo = self.settings.ppo
        shape = (ppo.num_steps, ppo.num_envs, self.engine.noise_size)
        uniform = np.random.default_rng([self.seed, rollout]).random(shape, dtype=np.float32)
        if not ppo.noise_correlation:
            return uniform
        correlation = schedule.noise_correlation(ppo.noise_correlation, rollout / self.rollouts)
        return np.asarray(compiled_correlated(uniform, correlation))

    def collect(self, state: TrainState, temperatures: Temperatures, noise: np.ndarray) -> tuple[Trajectory, Episodes]:
        """Step all environments `num_steps` times."""
        act = partial(self.engine.compiled_act, state.vector, state.normaliser, temperatures)
        transitions, ended = [], np.zeros(3)
        for step_noise in noise:
            view = self.view
            action = np.asarray(act(view, step_noise))
            step = self.environments.step(action)
            done = step.terminated | step.truncated
            transitions.append((view, action, step.reward, step.next_view, step.terminated, done))
            ended += self.tally(step.reward, done)
            self.view = step.view
        fields = (jnp.asarray(np.stack(field)) for field in zip(*transitions, strict=True))
        return Trajectory(*fields), Episodes(*jnp.asarray(ended, jnp.float32))

    def tally(self, reward: np.ndarray, done: np.ndarray) -> np.ndarray:
        """Count, total return and total length of the episodes that end with this step."""
        self.returns += reward
        self.lengths += 1
        ended = np.array([done.sum(), self.returns[done].sum(), self.lengths[done].sum()])
        self.returns[done] = 0.0
        self.lengths[done] = 0.0
        return ended

    def renew(self) -> None:
        """Begin new episodes at the next rollout: half-played ones cannot be saved."""
        self.view = None
        self.returns[:] = 0.0
        self.lengths[:] = 0.0

    def close(self) -> None:
        self.environments.close()


Collector = TwinCollector | HostCollector
"""Collects one rollout after another, `rollouts` in all, and learns from each.

`renew` forgets whatever a checkpoint does not hold, so that a run goes on as a resumed one would.
"""

"""Gymnasium's own MuJoCo environments, many at once: the same episodes as one by one, on all cores."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from multiprocessing import current_process
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from diprl.system.processes import available_cores
from diprl.tasks.base import Step, Task, with_first_views
from diprl.tasks.batches.sync import check_finite, checked_views, seeds
from diprl.tasks.gym.reference import Reference
from diprl.tasks.mujoco.engine import import_mujoco
from diprl.tasks.mujoco.gymnasium_rules import RULES, Rule, Worlds


def rule_of(task: Task) -> Rule | None:
    """The rule of a task that is one of Gymnasium's ids exactly as it is registered, with its default arguments."""
    reference = task.reference
    if not isinstance(reference, Reference) or not isinstance(reference.make, partial) or reference.env_kwargs:
        return None
    function, arguments, options = reference.make.func, reference.make.args, reference.make.keywords
    plain = function is gym.make and isinstance(arguments[0], str) and options.keys() <= {"disable_env_checker"}
    spec = gym.registry.get(arguments[0]) if plain else None
    if spec is None or spec.kwargs or spec.additional_wrappers or not isinstance(spec.entry_point, str):
        return None
    return RULES.get(spec.entry_point.removeprefix("gymnasium.envs.mujoco."))


class GymnasiumEnvironments:
    """Holds one environment, which begins episodes, and as many worlds as there are environments.

    MuJoCo lets other threads run while it simulates, so each core takes a share of the worlds.
    """

    def __init__(self, task: Task, rule: Rule, num_envs: int) -> None:
        self._mujoco = import_mujoco()
        self.num_envs = num_envs
        self._task, self._rule, self._steps = task, rule, 0
        self._environment: Any = task.reference().unwrapped
        self._data = [self._mujoco.MjData(self._environment.model) for _ in range(num_envs)]
        self._generators = [np.random.default_rng()] * num_envs
        self._elapsed = np.zeros(num_envs, np.int64)
        self._cores = 1 if current_process().daemon else available_cores()  # workers share the cores already
        self._threads = ThreadPoolExecutor(self._cores)

    def reset(self, seed: int) -> NDArray[np.float32]:
        self._steps = 0
        return self._views([self.begin(row, each) for row, each in enumerate(seeds(seed, self.num_envs))])

    def step(self, actions: NDArray[Any]) -> Step:
        self._steps += 1
        observations, reward, terminated, truncated = self.advance(range(self.num_envs), actions)
        next_view = self._views(observations)
        view = with_first_views(next_view, terminated | truncated, self._begin_rows)
        return Step(view, next_view, reward.astype(np.float32), terminated, truncated, {})

    def advance(self, rows: Sequence[int], actions: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """Observations, rewards, ends and cuts of some worlds, after one action for each."""
        environment, space = self._environment, self._environment.action_space
        data = [self._data[row] for row in rows]
        chosen = np.clip(actions, space.low, space.high).astype(space.dtype)
        before = self._rule.place(environment, Worlds(data))
        self._simulate(data, chosen)
        worlds = Worlds(data)
        velocity = (self._rule.place(environment, worlds) - before) / environment.dt
        reward, terminated = self._rule.judge(environment, worlds, chosen, velocity)
        check_finite(reward, "a reward", lambda index: self._place(rows[index]))
        self._elapsed[rows] += 1
        truncated = self._elapsed[rows] >= self._task.horizon
        return self._rule.observe(environment, worlds), reward, terminated, truncated

    def begin(self, row: int, seed: int | None = None) -> NDArray[np.float64]:
        """A world's next episode: the environment begins it as one of its own, with the world's random numbers."""
        environment = self._environment
        environment.data, environment.np_random = self._data[row], self._generators[row]
        observation, _ = environment.reset(seed=seed)
        self._generators[row], self._elapsed[row] = environment.np_random, 0
        return observation

    def close(self) -> None:
        self._threads.shutdown()
        self._environment.close()

    def _simulate(self, worlds: list[Any], actions: NDArray[Any]) -> None:
        """Advance worlds by one action each; the first share in this thread."""
        for data, action in zip(worlds, actions, strict=True):
            data.ctrl[:] = action
        edges = [len(worlds) * core // self._cores for core in range(self._cores + 1)]
        first, *others = (worlds[start:stop] for start, stop in pairwise(edges))
        elsewhere = [self._threads.submit(self._simulate_share, share) for share in others]
        self._simulate_share(first)
        for share in elsewhere:
            share.result()

    def _simulate_share(self, share: list[Any]) -> None:
        model, frames = self._environment.model, self._environment.frame_skip
        for data in share:
            self._mujoco.mj_step(model, data, nstep=frames)
            if self._rule.forces:
                self._mujoco.mj_rnePostConstraint(model, data)

    def _begin_rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        return self._views([self.begin(row) for row in rows.tolist()])

    def _views(self, observations: Any) -> NDArray[np.float32]:
        return checked_views(self._task, observations, self._place)

    def _place(self, index: int) -> str:
        return f"{self._task.name}: environment {index}, step {self._steps},"

"""A batch of environments in EnvPool's C++ threads."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.tasks.base import Step, Task, with_first_views
from diprl.tasks.batches.sync import check_finite, seeds


def envpool_serves(task: Task) -> bool:
    """Whether EnvPool is installed and has this task's environment."""
    return task.envpool is not None and find_spec("envpool") is not None


class EnvPoolEnvironments:
    """Restarts finished environments in the step that ended them, on which EnvPool would spend a step."""

    def __init__(self, task: Task, num_envs: int) -> None:
        if task.envpool is None:
            raise DiprlError(f"EnvPool has no environment for {task.name}: use backend 'sync' or 'async'")
        if not envpool_serves(task):
            raise DiprlError("EnvPool is not installed: install it with: pip install 'diprl[fast]'")
        self.num_envs = num_envs
        self._task, self._identifier, self._steps = task, task.envpool, 0
        self._pool: Any = None

    def reset(self, seed: int) -> NDArray[np.float32]:
        """First views of new episodes; EnvPool takes seeds only when it is made."""
        self.close()
        self._steps = 0
        self._pool = import_module("envpool").make(
            self._identifier,
            env_type="gymnasium",
            num_envs=self.num_envs,
            seed=[number % 2**31 for number in seeds(seed, self.num_envs)],
            max_episode_steps=self._task.horizon,
        )
        return self._task.view(self._pool.reset()[0])

    def step(self, actions: NDArray[Any]) -> Step:
        self._steps += 1
        observations, reward, terminated, truncated, _ = self._pool.step(np.asarray(actions, np.int32))
        next_view = self._task.view(observations)
        check_finite(next_view, "an observation", self._place)
        check_finite(reward, "a reward", self._place)
        view = with_first_views(next_view, terminated | truncated, self._begin)
        return Step(view, next_view, np.asarray(reward, np.float32), terminated, truncated, {})

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _begin(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        observations, info = self._pool.reset(rows.astype(np.int32))
        return self._task.view(observations[np.argsort(info["env_id"])])

    def _place(self, index: int) -> str:
        return f"{self._task.name}: environment {index}, step {self._steps},"

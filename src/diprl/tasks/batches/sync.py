"""A batch of reference environments stepped one after another in this process."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import NotFiniteError
from diprl.program.signature import Actions, Discrete, action_range
from diprl.tasks.base import Environments, Step, Task, with_first_views
from diprl.tasks.misdeeds import INFO_KEYS, Checked, call


class SyncEnvironments:
    """Environments that begin a new episode in the very step that ends the old one.

    `first` is the index of the first environment in a larger batch; it only appears in messages.
    """

    def __init__(self, task: Task, num_envs: int, first: int = 0) -> None:
        self.num_envs = num_envs
        self._task, self._first, self._steps = task, first, 0
        places = (partial(self._place, index) for index in range(num_envs))
        self._environments = [Checked(task.reference(), task.name, place) for place in places]

    def reset(self, seed: int) -> NDArray[np.float32]:
        return self.reset_each(seeds(seed, self.num_envs))

    def reset_each(self, seeds: Sequence[int]) -> NDArray[np.float32]:
        """First views of new episodes, one seed per environment."""
        self._steps = 0
        begun = zip(self._environments, seeds, strict=True)
        return self._views([environment.reset(seed) for environment, seed in begun], range(self.num_envs))

    def step(self, actions: NDArray[Any]) -> Step:
        self._steps += 1
        choices = actions if self._task.continuous else actions.tolist()
        results = [environment.step(action) for environment, action in zip(self._environments, choices, strict=True)]
        observations, rewards, terminated, truncated, infos = zip(*results, strict=True)
        next_view = self._views(observations, range(self.num_envs))
        with np.errstate(over="ignore"):  # one that is too large is refused below
            reward = np.array(rewards, np.float32)
        check_finite(reward, "a reward", self._place)
        view = with_first_views(next_view, np.logical_or(terminated, truncated), self._begin)
        told = {key: np.array([info.get(key, np.nan) for info in infos], np.float32) for key in INFO_KEYS}
        return Step(view, next_view, reward, np.array(terminated), np.array(truncated), told)

    def close(self) -> None:
        for environment in self._environments:
            environment.close()

    def _begin(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        indices = rows.tolist()
        return self._views([self._environments[index].reset() for index in indices], indices)

    def _views(self, observations: Sequence[Any], indices: Sequence[int]) -> NDArray[np.float32]:
        return checked_views(self._task, observations, lambda row: self._place(indices[row]))

    def _place(self, index: int) -> str:
        return f"{self._task.name}: environment {self._first + index}, step {self._steps},"


def random_views(environments: Environments, actions: Actions, steps: int) -> NDArray[np.float32]:
    """What so many steps of random actions meet."""
    generator, count, views = np.random.default_rng(0), environments.num_envs, [environments.reset(0)]
    for _ in range(steps):
        views.append(environments.step(random_actions(generator, actions, count)).next_view)
    return np.concatenate(views)


def random_actions(generator: np.random.Generator, actions: Actions, count: int) -> NDArray[Any]:
    """So many actions, drawn evenly from all that there are."""
    if isinstance(actions, Discrete):
        return generator.integers(len(actions.names), size=count)
    centre, width = map(np.array, action_range(actions))
    return centre + width * generator.uniform(-1.0, 1.0, (count, len(centre)))


def seeds(seed: int, count: int) -> list[int]:
    """One seed per environment; runs with neighbouring seeds share none."""
    return np.random.SeedSequence(seed).generate_state(count).tolist()


def checked_views(task: Task, observations: Sequence[Any], place: Callable[[int], str]) -> NDArray[np.float32]:
    """The views of some observations; `place` names the environment that gave the one of a row."""
    complaint = f"{task.name}: the features cannot be computed"
    views = call(lambda: task.view(np.array(observations)), complaint=lambda: complaint)
    check_finite(views, "an observation", place)
    return views


def check_finite(numbers: NDArray[np.floating], kind: str, place: Callable[[int], str]) -> None:
    """Refuses numbers that are not finite; `place` names the environment of a row."""
    if not np.isfinite(numbers).all():
        row = int(np.argwhere(~np.isfinite(numbers))[0, 0])
        raise NotFiniteError(f"{place(row)} returned {kind} that is not finite: {numbers[row]}")

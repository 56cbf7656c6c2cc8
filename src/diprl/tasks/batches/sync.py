"""A batch of reference environments stepped one after another in this process."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError, NotFiniteError
from diprl.program.signature import Actions, Discrete, action_range
from diprl.tasks import misdeeds
from diprl.tasks.base import Step, Task, with_first_views


class SyncEnvironments:
    """Environments that begin a new episode in the very step that ends the old one.

    `first` is the index of the first environment in a larger batch; it only appears in messages.
    """

    def __init__(self, task: Task, num_envs: int, first: int = 0) -> None:
        self.num_envs = num_envs
        self._task, self._first, self._steps = task, first, 0
        self._environments = [task.reference() for _ in range(num_envs)]
        self._shape = self._environments[0].observation_space.shape or ()

    def reset(self, seed: int) -> NDArray[np.float32]:
        return self.reset_each(seeds(seed, self.num_envs))

    def reset_each(self, seeds: Sequence[int]) -> NDArray[np.float32]:
        """First views of new episodes, one seed per environment."""
        self._steps = 0
        observations = [self._call(index, "failed to reset", _reset, seed) for index, seed in enumerate(seeds)]
        return self._views(observations, range(self.num_envs))

    def step(self, actions: NDArray[Any]) -> Step:
        self._steps += 1
        choices = actions if self._task.continuous else actions.tolist()
        results = [self._call(index, "failed", misdeeds.step, action) for index, action in enumerate(choices)]
        observations, rewards, terminated, truncated, infos = zip(*results, strict=True)
        next_view = self._views(observations, range(self.num_envs))
        with np.errstate(over="ignore"):  # one that is too large is refused below
            reward = np.array(rewards, np.float32)
        check_finite(reward, "a reward", self._place)
        view = with_first_views(next_view, np.logical_or(terminated, truncated), self._begin)
        told = {key: np.array([info.get(key, np.nan) for info in infos], np.float32) for key in misdeeds.INFO_KEYS}
        return Step(view, next_view, reward, np.array(terminated), np.array(truncated), told)

    def close(self) -> None:
        for environment in self._environments:
            misdeeds.close(environment, self._task.name)

    def _call(self, index: int, failed: str, function: Callable[[Any, Any], Any], argument: Any) -> Any:
        """What a function of an environment returns; whatever it does wrong becomes one sentence."""
        environment = self._environments[index]
        return misdeeds.call(function, environment, argument, complaint=lambda: f"{self._place(index)} {failed}")

    def _begin(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        indices = rows.tolist()
        return self._views([self._call(index, "failed to reset", _reset, None) for index in indices], indices)

    def _views(self, observations: Sequence[Any], indices: Sequence[int]) -> NDArray[np.float32]:
        """Checked views of the observations that the environments of these indices gave."""
        for index, observation in zip(indices, observations, strict=True):
            shape = self._call(index, "returned an observation without a shape", _shape, observation)
            if shape != self._shape:
                raise DiprlError(
                    f"{self._place(index)} returned an observation of shape {shape} instead of {self._shape}"
                )
        complaint = f"{self._task.name}: the features cannot be computed"
        views = misdeeds.call(lambda: self._task.view(np.array(observations)), complaint=lambda: complaint)
        check_finite(views, "an observation", lambda row: self._place(indices[row]))
        return views

    def _place(self, index: int) -> str:
        return f"{self._task.name}: environment {self._first + index}, step {self._steps},"


def _reset(environment: Any, seed: int | None) -> Any:
    observation, _ = environment.reset(seed=seed)
    return observation


def _shape(environment: Any, observation: Any) -> tuple[int, ...]:
    return np.shape(observation)


def random_actions(actions: Actions, count: int, generator: np.random.Generator) -> NDArray[Any]:
    """An action for each of so many environments, drawn evenly from all that there are."""
    if isinstance(actions, Discrete):
        return generator.integers(len(actions.names), size=count)
    centre, width = map(np.array, action_range(actions))
    return centre + width * generator.uniform(-1.0, 1.0, (count, len(centre)))


def seeds(seed: int, count: int) -> list[int]:
    """One seed per environment; runs with neighbouring seeds share none."""
    return np.random.SeedSequence(seed).generate_state(count).tolist()


def check_finite(numbers: NDArray[np.float32], kind: str, place: Callable[[int], str]) -> None:
    """Refuses numbers that are not finite; `place` names the environment of a row."""
    if not np.isfinite(numbers).all():
        row = int(np.argwhere(~np.isfinite(numbers))[0, 0])
        raise NotFiniteError(f"{place(row)} returned {kind} that is not finite: {numbers[row]}")

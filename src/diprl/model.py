"""The Python interface: models with learn, predict, save, load and program, as Stable-Baselines3's users know them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.tasks.base import Task
from diprl.tasks.registry import Source, load_task
from diprl.train.config import Config
from diprl.train.score import Score
from diprl.train.snapshot import Observer


class Model:
    """A policy for one environment, learnt by one method."""

    method: ClassVar[str]

    def __init__(
        self,
        env: Source,
        *,
        seed: int = 0,
        preset: str = "default",
        feature_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
        features: Sequence[tuple[str, str, Callable[[Any], float]]] | None = None,
        env_kwargs: Mapping[str, Any] | None = None,
        backend: str = "auto",
        **settings: Any,
    ) -> None:
        """`env` is a task name, a Gymnasium id, `module:Id`, an environment or a factory; settings are `Config`'s."""
        from diprl.methods.registry import find_method
        from diprl.train.cache import use_compilation_cache

        use_compilation_cache()
        self.task: Task = load_task(
            env,
            env_kwargs=env_kwargs,
            feature_names=feature_names,
            action_names=action_names,
            features=features,
        )
        self.seed, self.preset, self.backend = seed, preset, backend
        chosen = find_method(self.method).preset(preset, self.task.name, self.task.budget)
        self.config: Config = chosen.with_values(**settings)
        self.outcome: Any = None

    def learn(
        self,
        total_timesteps: int | None = None,
        callback: Observer | Sequence[Observer] | None = None,
        progress_bar: bool = False,
    ) -> Self:
        """Train for so many environment steps, rounded up to whole rollouts; `num_timesteps` tells how many it were."""
        from diprl.methods.base import Job
        from diprl.methods.registry import find_method

        if total_timesteps is not None:
            self.config = self.config.with_values(total_timesteps=total_timesteps)
        observers = [callback] if callable(callback) else list(callback or ())
        if progress_bar:
            from diprl.display import Display

            observers.append(Display())
        job = Job(self.task, self.method, self.config, self.seed, tuple(observers), backend=self.backend)
        self.outcome = find_method(self.method).fit(job)
        return self

    @property
    def num_timesteps(self) -> int:
        return self._learnt().steps

    @property
    def program(self) -> Program:
        """The discrete program; it is what `predict` runs."""
        program = self._learnt().program
        if program is None:
            raise DiprlError(f"{type(self).__name__} learns a network, which is not a program")
        return program

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = True
    ) -> tuple[NDArray[Any] | Any, Any]:
        """The action for one observation of the environment or for a batch; always the deterministic policy."""
        observations = np.asarray(observation)
        single = observations.ndim == self._observation_rank()
        actions = self._learnt().act(self.task.view(observations[None] if single else observations))
        return (actions[0] if single else actions), state

    def score(self, episodes: int = 100) -> Score:
        """Returns on the reference environment."""
        from diprl.train.evaluate import evaluate

        return evaluate(self.task, self._learnt().act, episodes)

    def save(self, path: str | Path) -> None:
        """Write everything needed to use the model or to go on training it, as numbers and JSON only."""
        from diprl.train.checkpoint import save_checkpoint

        facts = {
            "method": self.method,
            "task": self.task.name,
            "seed": self.seed,
            "preset": self.preset,
            "settings": asdict(self.config),
            "steps": self.num_timesteps,
        }
        save_checkpoint(Path(path), self._learnt().trained.state, facts)

    def _learnt(self) -> Any:
        if self.outcome is None:
            raise DiprlError("the model has not learnt anything yet: call learn() or load() first")
        return self.outcome

    def _observation_rank(self) -> int:
        environment = self.task.reference()
        rank = len(environment.observation_space.shape or ())
        environment.close()
        self._observation_rank = lambda: rank
        return rank

    def __repr__(self) -> str:
        from diprl.display import model_table

        return f"{type(self).__name__}({self.task.name!r})" if self.outcome is None else model_table(self)


class DiPRL(Model):
    """Learns an if/else program by driving a relaxed one towards a discrete one while it trains."""

    method = "diprl"


class PPO(Model):
    """Learns a network, the reference that programs are compared with."""

    method = "ppo"


class PiPRL(Model):
    """Learns a relaxed program, extracts the likeliest shape and fine-tunes it."""

    method = "pi-prl"


class DTSemNet(Model):
    """Learns a complete decision tree of linear conditions."""

    method = "dtsemnet"


class VIPER(Model):
    """Learns a network and imitates it by a decision tree over single features."""

    method = "viper"

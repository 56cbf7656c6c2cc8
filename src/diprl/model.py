"""The Python interface: models with learn, predict, save, load and program, as Stable-Baselines3's users know them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.tasks.base import Task
from diprl.tasks.registry import Source, load_task, refuse_module
from diprl.train.config import Config, check_seed
from diprl.train.score import Score
from diprl.train.snapshot import Observer

if TYPE_CHECKING:
    from diprl.extract import Gap


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
        from diprl.methods.registry import settings_for
        from diprl.system.cache import use_compilation_cache

        use_compilation_cache()
        check_seed(seed)
        self.task: Task = load_task(
            env,
            env_kwargs=env_kwargs,
            feature_names=feature_names,
            action_names=action_names,
            features=features,
        )
        self.seed, self.preset, self.backend = seed, preset, backend
        self.env_kwargs = dict(env_kwargs or {})
        chosen = settings_for(self.method, preset, self.task)
        self.config: Config = chosen.with_values(**settings)
        self.outcome: Any = None

    def learn(
        self,
        total_timesteps: int | None = None,
        callback: Observer | Sequence[Observer] | None = None,
        progress_bar: bool = False,
    ) -> Self:
        """Train for so many environment steps, rounded up to whole rollouts; `num_timesteps` tells how many it were.

        A model that has learnt already goes on from what it knows, with all schedules from their beginning.
        """
        from diprl.display import Display
        from diprl.methods.base import Job
        from diprl.methods.registry import find_method

        if total_timesteps is not None:
            self.config = self.config.with_values(total_timesteps=total_timesteps)
        observers = [callback] if callable(callback) else list(callback or ())
        with Display() as display:
            job = Job(
                task=self.task,
                method=self.method,
                config=self.config,
                seed=self.seed,
                observers=(*observers, display) if progress_bar else tuple(observers),
                backend=self.backend,
                start=self.outcome.trained.agent if self.outcome else None,
            )
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

    @property
    def gap(self) -> "Gap":
        """What it cost to make the relaxed program discrete."""
        from diprl.extract import Gap

        measured = self._learnt().facts.get("gap")
        if measured is None:
            raise DiprlError(f"{type(self).__name__} does not learn a relaxed program, so it has no gap")
        return Gap(**{field.name: measured[field.name] for field in fields(Gap)})

    def program_at(self, depth: int) -> Program:
        """The program of another depth that the relaxed one holds, exactly as extraction reads it off."""
        from diprl.extract import extract

        trained = self._learnt().trained
        task = self.task
        return extract(trained.agent, task.signature, trained.temperatures, depth=depth, task=task.name)

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = True
    ) -> tuple[NDArray[Any] | Any, Any]:
        """The action for one observation of the environment or for a batch; always the deterministic policy."""
        observations = np.asarray(observation)
        single = observations.ndim == self._observation_rank
        actions = self._learnt().act(self.task.view(observations[None] if single else observations))
        return (actions[0] if single else actions), state

    def score(self, episodes: int = 100) -> Score:
        """Returns on the reference environment."""
        from diprl.train.evaluate import evaluate

        return evaluate(self.task, self._learnt().act, episodes)

    def save(self, path: str | Path) -> None:
        """Write everything needed to use the model or to go on training it, as numbers and JSON only."""
        from diprl.saving import save_model

        self._learnt()
        save_model(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, env: Source | None = None, **options: Any) -> Self:
        """A saved model; give `env`, and `features` if it had its own, where the name of its task does not suffice."""
        from diprl.saving import read_description, restore_outcome

        facts = read_description(Path(path), cls.method)
        try:
            Config().with_values(**facts["settings"])  # settings, and not other arguments in their guise
            names = {} if options.get("features") else {"feature_names": facts["feature_names"]}
            options = facts["settings"] | names | {"action_names": facts["action_names"]} | options
            options = {
                "seed": facts["seed"],
                "preset": facts["preset"],
                "env_kwargs": facts["env_kwargs"],
            } | options
            model = cls(env or refuse_module(facts["task"]), **options)
            model.outcome = restore_outcome(model, Path(path))
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise DiprlError(f"{path}: not a saved model ({error!r:.200})") from error
        except DiprlError as error:
            raise DiprlError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from error
        return model

    def _learnt(self) -> Any:
        if self.outcome is None:
            raise DiprlError("the model has not learnt anything yet: call learn() or load() first")
        return self.outcome

    @cached_property
    def _observation_rank(self) -> int:
        with closing(self.task.reference()) as environment:
            return len(environment.observation_space.shape or ())

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

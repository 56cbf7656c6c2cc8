"""A model: learn, predict, save, load and program, as Stable-Baselines3's users know them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from diprl.arena.reference import evaluate
from diprl.arena.score import Gap, Score
from diprl.errors import DiprlError
from diprl.export import ExportReport, export
from diprl.extract import extract
from diprl.methods.presets import changed, settings_for
from diprl.methods.registry import find_method, run
from diprl.methods.retrain import retrainer
from diprl.program import Program
from diprl.runs.folder import find_saved
from diprl.runs.observers import Observer
from diprl.runs.result import Result
from diprl.runs.session import Session
from diprl.runs.spec import RunSpec
from diprl.runs.stage import Trained
from diprl.runs.trainer import acting, load_trained, save_trained
from diprl.search.front import Front
from diprl.search.simplify import simplify
from diprl.system.device import use_compilation_cache
from diprl.system.files import check_target
from diprl.tasks.base import Task
from diprl.tasks.batches.guard import guarded
from diprl.tasks.registry import Source, load_task
from diprl.terminal.printing import result_table
from diprl.terminal.progress import Display
from diprl.train.settings import Settings


class Model:
    """A policy for one environment, learnt by one method; the calls are those of Stable-Baselines3.

    Args:
        env: A task, a Gymnasium id, `FILE.py:Class`, a task file, an environment, or a function that makes one.
        seed: The same seed gives the same program on the same machine.
        preset: `default`, as tuned here, or `paper`, as published.
        feature_names: Names for the numbers of the observation, in their order.
        action_names: Names for the actions, in their order.
        features: What programs read instead of the observation: each a name, a unit and a function of it.
        env_kwargs: Arguments of the environment.
        backend: How environments outside JAX are stepped: `auto`, `sync`, `async` or `envpool`.
        settings: Any setting by name, such as `max_depth=4` or `gamma=0.995`.
    """

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
        use_compilation_cache()
        names = {"feature_names": feature_names, "action_names": action_names}
        self.task: Task = load_task(env, env_kwargs=env_kwargs, features=features, **names)
        self.backend = backend
        self.spec = RunSpec(
            task=self.task.name,
            method=self.method,
            settings=settings_for(self.method, preset, self.task, **settings),
            seed=seed,
            preset=preset,
            env_kwargs=dict(env_kwargs or {}),
            feature_names=tuple(feature_names or ()),
            action_names=tuple(action_names or ()),
            origin=self.task.origin,
        )
        self.result: Result | None = None
        self.trained: Trained | None = None
        self.folder: Path | None = None

    @property
    def settings(self) -> Settings:
        """Every setting of the run, after the preset and your own values."""
        return self.spec.settings

    def learn(
        self,
        total_timesteps: float | None = None,
        callback: Observer | Sequence[Observer] | None = None,
        progress_bar: bool = False,
        *,
        folder: str | Path | None = None,
        resume: bool = False,
        episodes: int | None = None,
        env_timeout: float | None = None,
        tensorboard: bool = False,
    ) -> Self:
        """Train, and score what was learnt on the environment itself. This is what `diprl train` does.

        A model that has learnt already continues from what it knows, with all schedules from their beginning.

        Args:
            total_timesteps: Environment steps to train for, rounded up to whole rollouts; default: the preset's.
            callback: Called with a `Snapshot` at each report, or several; one that returns True ends the training.
            folder: Write the run there, as `diprl train --out` does.
            resume: Continue the unfinished run from whose folder the model was loaded.
            episodes: Episodes that the score is measured on; default 100.
            env_timeout: Seconds that an environment may take for a step before the run is given up.
        """
        if resume:
            if self.folder is None or any(given is not None for given in (total_timesteps, folder, episodes)):
                raise DiprlError("learn(resume=True) goes on with a run as it was begun: load its folder, no budget")
        else:
            given = {} if total_timesteps is None else {"total_timesteps": whole(total_timesteps)}
            settings = changed(self.settings, **given)
            self.spec = replace(self.spec, settings=settings, episodes=100 if episodes is None else episodes)
            self.folder = None if folder is None else Path(folder)
        observers = (callback,) if callable(callback) else tuple(callback or ())
        with Display() if progress_bar else nullcontext() as shown:
            if shown:
                shown.show(f"{self.task.name}: compiling …")
            session = Session(
                self.spec,
                self.task if env_timeout is None else guarded(self.task, env_timeout),
                folder=self.folder,
                resume=resume,
                observers=(*observers, shown) if shown else observers,
                backend=self.backend,
                env_timeout=env_timeout,
                tensorboard=tensorboard,
                start=self.trained.agent if self.trained and not resume else None,
            )
            self.result = run(session)
        self.trained = self.result.trained or self.trained
        self.__dict__.pop("_act", None)
        return self

    @property
    def num_timesteps(self) -> int:
        """Environment steps that learning took."""
        return self._learnt().steps if self.result is None else self.result.total_steps

    @property
    def program(self) -> Program:
        """The discrete program; it is what `predict` runs."""
        program = self._program
        if program is None:
            raise DiprlError(f"{type(self).__name__} learns a network, which is not a program")
        return program

    @property
    def _program(self) -> Program | None:
        """None for a network; of an unfinished run, the program as it stands."""
        if self.result is not None:
            return self.result.program
        self._learnt()
        return self.program_at() if self.method in ("diprl", "pi-prl") else None

    @property
    def gap(self) -> Gap:
        """The return lost by making the relaxed program discrete, in three parts: depth, conditions, leaves."""
        self._learnt()
        if self.result is None or self.result.gap is None:
            raise DiprlError(f"this {type(self).__name__} has no gap: it learns no relaxed program, or is unfinished")
        return self.result.gap

    @property
    def front(self) -> Front:
        """Programs of many sizes from the same run, each with its score on validation episodes."""
        self._learnt()
        if self.result is None or self.result.front is None:
            raise DiprlError("there are no programs of other sizes: polish_share was 0, or the run is unfinished")
        return self.result.front

    def pick(self, numbers: int | None = None, conditions: int | None = None) -> Program:
        """The best program of the front with at most this many numbers and conditions."""
        return self.front.pick(numbers, conditions).program

    def program_at(self, depth: int | None = None) -> Program:
        """The program of some depth that the relaxed one holds, exactly as extraction reads it off."""
        trained, task = self._learnt(), self.task
        return extract(trained.agent, task.signature, trained.temperatures, depth=depth, task=task.name)

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = True
    ) -> tuple[NDArray[Any] | Any, Any]:
        """The action for one observation of the environment or for a batch; always the deterministic policy."""
        observations = np.asarray(observation)
        single = observations.ndim == self._observation_rank
        actions = self._act(self.task.view(observations[None] if single else observations))
        return (actions[0] if single else actions), state

    def score(self, episodes: int = 100) -> Score:
        """The mean return over some episodes of the environment itself, with its 95% interval and every return."""
        return evaluate(self.task, self._act, episodes)

    def simplify(self, tolerance: float = 0.01, **options: Any) -> Program:
        """A smaller program whose score stays within a fraction of this one's; options as for `diprl.simplify`."""
        others = [entry.program for entry in self.result.front] if self.result and self.result.front else ()
        options = {"train": retrainer(self.task, self.program), "others": others} | options
        return simplify(self.task, self.program, tolerance, **options).program

    def export(self, target: str = "python", folder: str | Path = "export") -> ExportReport:
        """Write the program in another language, checked against the interpreter, as `diprl export` does."""
        return export(self.program, target, folder, self.task.networks() if self.task.networks else None)

    def report(self, out: str | Path | None = None) -> Path:
        """Write the page that `diprl report` writes; by default into the run folder."""
        from diprl.report import write_report

        if self.folder is None:
            raise DiprlError("a report is about a run folder: learn(folder=…) makes one")
        return write_report(self.folder, None if out is None else Path(out))

    def save(self, path: str | Path) -> None:
        """Write everything needed to use the model or to go on training it, as numbers and JSON only."""
        trained = self._learnt()
        check_target(Path(path))
        try:
            result = None if self.result is None else self.result.to_json()
            save_trained(trained, self.spec, Path(path), steps=self.num_timesteps, result=result)
        except (TypeError, ValueError) as error:
            raise DiprlError(f"a model is saved as JSON and numbers, which its settings are not: {error}") from error

    @classmethod
    def load(cls, path: str | Path, env: Source | None = None, **options: Any) -> Self:
        """A saved model, a run folder (finished or not) or a checkpoint.

        Give `env`, and `features` if it had its own, where the name of its task does not suffice.
        """
        spec = (saved := find_saved(Path(path))).spec
        if spec.method != cls.method:
            raise DiprlError(f"{path} holds a model of method {spec.method!r:.40}, not {cls.method!r}")
        names = {} if options.get("features") else {"feature_names": spec.feature_names}
        asked = {"seed": spec.seed, "preset": spec.preset, "env_kwargs": spec.env_kwargs}
        asked |= names | {"action_names": spec.action_names} | options
        try:
            model = cls(spec.source(env), **asked)
            model.spec = replace(model.spec, settings=spec.settings, episodes=spec.episodes)
            model.trained = load_trained(saved.arrays, model.task, spec, find_method(cls.method).make_agent)
            model.result = None if saved.result is None else Result.read(saved.result, str(path))
        except DiprlError as error:
            raise DiprlError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from error
        model.folder = saved.folder
        return model

    @cached_property
    def _act(self) -> Any:
        """How the model acts, put together once and anew after each learning."""
        return acting(self.task, self._learnt(), self._program)

    def _learnt(self) -> Trained:
        if self.trained is None:
            raise DiprlError("the model has not learnt anything yet: call learn() or load() first")
        return self.trained

    @cached_property
    def _observation_rank(self) -> int:
        with closing(self.task.reference()) as environment:
            return len(environment.observation_space.shape or ())

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}({self.task.name!r})" if self.result is None else result_table(self.result, name)


def whole(number: float) -> float:
    """A number such as 1e6 as the whole number it is; others are left to be refused.

    >>> whole(1e6)
    1000000
    """
    return int(number) if isinstance(number, float) and number.is_integer() else number

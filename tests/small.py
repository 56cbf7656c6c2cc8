"""Runs small enough for tests; equal settings share one compilation."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from diprl.runs.session import Session
from diprl.runs.spec import RunSpec
from diprl.runs.stage import Stage
from diprl.runs.trainer import Trainer, engine_for
from diprl.tasks.base import Task
from diprl.tasks.registry import TASKS
from diprl.train.engine import Engine, TrainState
from diprl.train.settings import Settings
from tests.probes import PROBES

SMALL: dict[str, Any] = {
    "num_envs": 16,
    "num_steps": 16,
    "minibatch_size": 64,
    "num_epochs": 4,
    "hidden_size": 8,
    "max_depth": 3,
    "polish_share": 0.0,
}
ROLLOUT = 256
"""Environment steps between updates."""


def small_settings(**values: Any) -> Settings:
    return Settings().with_values(**SMALL | values)


def small_session(task: Task, settings: Settings, seed: int = 0, **options: Any) -> Session:
    """A session of DiPRL, or of another `method`, that ends with a few episodes."""
    labels = {name: options.pop(name) for name in ("method", "episodes") if name in options}
    return Session(RunSpec(task.name, settings=settings, seed=seed, **{"episodes": 5, **labels}), task, **options)


def first_training_state(task: Task, settings: Settings, seed: int, make_agent: Any) -> tuple[Engine, TrainState]:
    """Where the training of an agent begins, with the engine that trains it."""
    stage = Stage("training", settings, make_agent)
    engine = engine_for(task, settings.compiled(), make_agent)
    return engine, Trainer(small_session(task, settings, seed)).begin(stage, engine)


@contextmanager
def registered_probes() -> Iterator[None]:
    """The probes known by name, as built-in tasks are."""
    before = dict(TASKS)
    TASKS.update({name: lambda task=task: task for name, task in PROBES.items()})
    yield
    TASKS.clear()
    TASKS.update(before)


def probe(name: str) -> Task:
    return PROBES[name]

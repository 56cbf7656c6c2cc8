"""Runs small enough for tests; equal settings share one compilation."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from diprl.tasks.base import Task
from diprl.tasks.registry import TASKS
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

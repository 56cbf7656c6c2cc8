"""Runs small enough for tests; equal settings share one compilation."""

from typing import Any

from diprl.tasks.base import Task
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


def register_probes(tasks: dict[str, Any]) -> None:
    """Make the probes known by name, as built-in tasks are."""
    tasks |= {name: lambda task=task: task for name, task in PROBES.items()}


def probe(name: str) -> Task:
    return PROBES[name]

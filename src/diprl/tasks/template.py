"""A task file to fill in, written after a look at the environment."""

import json
import os
from collections.abc import Mapping
from functools import partial
from importlib.resources import files
from math import inf
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from diprl.program.signature import Continuous, outputs
from diprl.tasks.base import Task
from diprl.tasks.batches.sync import SyncEnvironments, random_views
from diprl.tasks.origin import is_file

COPIES, STEPS = 5, 300
"""How many environments are looked at, and for how many steps each."""
_value = partial(json.dumps, ensure_ascii=False, separators=(", ", " = "))
"""A value as TOML has it, which differs from JSON in the sign between a key and its value."""


def file_name(source: str) -> str:
    """What a task file about this environment is called: tank.toml for tank.py:Tank."""
    where, _, name = source.rpartition(":")
    return f"{Path(where).stem if is_file(source) else (where or name).replace('/', '_')}.toml".lower()


def task_file(task: Task, source: str, out: Path, env_kwargs: Mapping[str, Any]) -> str:
    """The text of a task file that is to lie at `out`."""
    environment = source
    if task.origin is not None and is_file(task.origin.source):
        environment = Path(os.path.relpath(task.origin.folder, out.resolve().parent), task.origin.source).as_posix()
    horizon = f"horizon = {task.horizon}  # steps after which an episode is cut; the environment"
    text = (files("diprl.tasks") / "template.toml").read_text(encoding="utf-8")
    return Template(text).substitute(
        source=source,
        file=out,
        environment=_value(environment),
        env_kwargs=f"env_kwargs = {_value(env_kwargs)}" if env_kwargs else "# env_kwargs = { size = 3 }",
        horizon=f"{horizon} has no limit itself" if task.note else f"# {horizon} has this limit itself",
        budget=f"{task.budget:_}",
        actions="\n".join(_actions(task)),
        features="\n".join(_features(task)),
    )


def _actions(task: Task) -> list[str]:
    actions = task.signature.actions
    if not isinstance(actions, Continuous):
        return [f"actions = {_value(list(actions.names))}  # in the order of their numbers"]
    lines = [f"{out.name} = {{ unit = {_value(out.unit)}{_range(out.low, out.high)} }}" for out in outputs(actions)]
    return ["[actions]  # in the order of the action's numbers", *lines]


def _features(task: Task) -> list[str]:
    """A line for each feature, with what was seen of it."""
    environments, lines = SyncEnvironments(task, COPIES), []
    seen = random_views(environments, task.signature.actions, STEPS)
    environments.close()
    for feature, low, high in zip(task.signature.features, seen.min(axis=0), seen.max(axis=0), strict=False):
        facts = f"unit = {_value(feature.unit)}{_range(feature.low, feature.high)}, meaning = {_value(feature.meaning)}"
        lines.append(f"{feature.name} = {{ {facts} }}  # seen: {low:.4g} to {high:.4g}")
    return lines


def _range(low: float, high: float) -> str:
    """The range where one is known, in as few digits as name the same 32-bit numbers."""
    if (low, high) == (-inf, inf):
        return ""
    shown = (str(np.float32(end) if np.float32(end) == end else end) for end in (low, high))
    return f", range = [{', '.join(shown)}]"

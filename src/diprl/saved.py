"""A saved program and the environment it is for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diprl import runs
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.tasks.base import Task
from diprl.tasks.registry import load_task, refuse_module


def task_of(
    path: Path, program: Program, name: str | None = None, env_kwargs: Mapping[str, Any] | None = None
) -> Task:
    """The task of a run folder or a program file, unless another is named; a run brings its env_kwargs."""
    wanted = name or program.task
    if not wanted:
        raise DiprlError(f"{path} does not say which environment it is for: give --task")
    if not env_kwargs and not name and (path / runs.CONFIG).exists():
        env_kwargs = runs.read_json(path / runs.CONFIG).get("env_kwargs")
    if not isinstance(env_kwargs, Mapping | None):
        raise DiprlError(f"{path / runs.CONFIG}: env_kwargs must be an object")
    task = load_task(name or refuse_module(wanted), env_kwargs=env_kwargs)
    found, needed = len(task.signature.features), len(program.signature.features)
    if found != needed or type(task.signature.actions) is not type(program.signature.actions):
        raise DiprlError(
            f"the program of {path} does not fit {task.name}: it reads {needed} features, that has {found}"
        )
    return task

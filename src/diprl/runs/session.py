"""One run in one process: its description with everything that does not change the result."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from diprl.errors import DiprlError, check_known
from diprl.policy.agent import Agent
from diprl.runs.folder import CONFIG, read_spec
from diprl.runs.observers import Observer
from diprl.runs.spec import RunSpec
from diprl.system.files import read_json
from diprl.tasks.base import BACKENDS, Task


@dataclass(frozen=True)
class Session:
    """A spec, the task it names, where to write, who watches, and limits on time."""

    spec: RunSpec
    task: Task
    folder: Path | None = None
    """Where to write; None keeps everything in memory."""
    resume: bool = False
    """Go on with the run that the folder holds."""
    observers: tuple[Observer, ...] = ()
    backend: str = "auto"
    """Which environments to collect with where there is no twin."""
    env_timeout: float | None = None
    """Seconds that an environment may take for a step; None waits for ever."""
    tensorboard: bool = False
    interrupt: Callable[[], None] = lambda: None
    """Called now and then while no observer is; ends the run by raising."""
    start: Agent | None = None
    """An agent to begin with instead of a fresh one."""

    def __post_init__(self) -> None:
        check_known("backend", BACKENDS, str(self.backend))


def resume_session(folder: Path, source: Any = None, **asked: Any) -> Session:
    """A session that goes on with the run in a folder; what does not change the result may be asked for anew.

    The task is loaded from the name that the run has, or from another source of the same task.
    """
    from diprl.tasks.batches.guard import load_limited
    from diprl.tasks.registry import load_task

    path = folder / CONFIG
    spec, before = read_spec(folder), read_json(path).get("session")
    if not isinstance(before, dict) or not before.keys() <= {"backend", "env_timeout"}:
        raise DiprlError(f"{path}: its session must be an object with backend and env_timeout")
    options = before | {name: value for name, value in asked.items() if value is not None}
    named = {"feature_names": spec.feature_names, "action_names": spec.action_names}
    try:
        load = partial(load_task, spec.source(source), env_kwargs=spec.env_kwargs, **named)
        task = load_limited(load, options.get("env_timeout"))
        if task.name != spec.task:
            raise DiprlError(f"the run is one of {spec.task:.80}, so leave out {task.name}")
        return Session(spec, task, folder=folder, resume=True, **options)
    except DiprlError as error:
        raise DiprlError(f"{path}: {error}") from error

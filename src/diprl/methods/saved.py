"""What a run or a program file holds, ready to act: a program, or the network of a run that learnt one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from diprl.arena.reference import Act, program_act
from diprl.errors import DiprlError
from diprl.methods.registry import find_method
from diprl.program import Program
from diprl.runs.folder import CONFIG, PROGRAM_JSON, RESULT, find_saved, load_program, task_of
from diprl.runs.session import resume_session
from diprl.runs.trainer import acting, load_trained
from diprl.system.device import use_compilation_cache
from diprl.tasks.base import Task


class Opened(NamedTuple):
    """Something that acts, and the task it acts in."""

    task: Task
    act: Act
    program: Program | None


def open_saved(path: Path, task: str | None = None, env_kwargs: Mapping[str, Any] | None = None) -> Opened:
    """A program with its task, or with the one that is named; the network of a finished run that has no program."""
    if (path / CONFIG).exists() and (path / RESULT).exists() and not (path / PROGRAM_JSON).exists():
        if env_kwargs:
            raise DiprlError(f"{path} holds a network, which plays where it was trained: leave out --env-kwargs")
        return open_network(path, task)
    program = load_program(path)
    played = task_of(path, program, task, env_kwargs)
    return Opened(played, program_act(played, program), program)


def open_network(folder: Path, task: str | None = None) -> Opened:
    use_compilation_cache()
    session = resume_session(folder, task)
    make_agent = find_method(session.spec.method).make_agent
    trained = load_trained(find_saved(folder).arrays, session.task, session.spec, make_agent)
    return Opened(session.task, acting(session.task, trained, None), None)

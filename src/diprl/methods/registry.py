"""The methods by name, the one path that every run takes, and what a run left, ready to act."""

import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from diprl.arena.reference import Act, program_act
from diprl.errors import DiprlError, check_known
from diprl.methods import diprl, dtsemnet, pi_prl, ppo, viper
from diprl.methods.agents import neural_agent, tree_agent
from diprl.program import Program
from diprl.runs import folder as run_folder
from diprl.runs.result import Result, changed_versions, command, versions
from diprl.runs.session import Session, resume_session
from diprl.runs.stage import MakeAgent
from diprl.runs.trainer import acting, load_trained, save_trained
from diprl.system.device import make_room_for_code, use_compilation_cache
from diprl.system.files import check_writable, read_json, write_json
from diprl.tasks.base import Task


@dataclass(frozen=True)
class Method:
    """How to run a method."""

    title: str
    fit: Callable[[Session], Result]
    make_agent: MakeAgent
    """Builds what it trains."""


METHODS: dict[str, Method] = {
    "diprl": Method("DiPRL", diprl.fit, tree_agent),
    "ppo": Method("PPO", ppo.fit, neural_agent),
    "pi-prl": Method("pi-PRL", pi_prl.fit, tree_agent),
    "dtsemnet": Method("DTSemNet", dtsemnet.fit, dtsemnet.dtsemnet_agent),
    "viper": Method("VIPER", viper.fit, neural_agent),
}


def find_method(name: str) -> Method:
    check_known("method", METHODS, name)
    return METHODS[name]


def run(session: Session) -> Result:
    """Train and score; with a folder, everything is kept there and a second process is refused.

    A run that is finished already is not repeated: its result is read.
    """
    fit, folder = find_method(session.spec.method).fit, session.folder
    make_room_for_code()
    if folder is None:
        return fit(session)
    check_writable(folder)
    with run_folder.exclusive(folder):
        if not session.resume:
            run_folder.check_free(folder)
        if session.resume and run_folder.read_spec(folder).key != session.spec.key:
            raise DiprlError(f"{folder} holds another run than {session.spec.title}")
        try:
            return run_folder.read_result(folder) or fill_folder(session, folder, fit)
        except DiprlError:
            if not session.resume and not run_folder.checkpoints(folder):
                run_folder.discard(folder)
            raise
        except OSError as error:
            place, reason = error.filename or folder, error.strerror or error
            again = run_folder.resume_command(folder)
            raise DiprlError(f"{place}: {reason}; what was saved before is intact, go on with: {again}") from error


def fill_folder(session: Session, folder: Path, fit: Callable[[Session], Result]) -> Result:
    """Do the run and write down everything about it; checkpoints go once the model and the result are there."""
    if not session.resume:
        write_json(folder / run_folder.CONFIG, config_of(session))
    config = read_json(folder / run_folder.CONFIG)
    if changed := changed_versions(config.get("versions")):
        print(f"diprl: warning: {changed}; the run may end otherwise than it would have", file=sys.stderr, flush=True)
    result = replace(fit(session), command=str(config.get("command", "")))
    if result.trained is not None:
        save_trained(result.trained, session.spec, folder / run_folder.MODEL, steps=result.total_steps)
    run_folder.write_result(folder, result)
    for path in run_folder.checkpoints(folder):
        path.unlink(missing_ok=True)
        path.with_name(path.name + ".previous").unlink(missing_ok=True)
    return result


def config_of(session: Session) -> dict[str, object]:
    """The description of a run, with how it was asked for."""
    asked = {"backend": session.backend, "env_timeout": session.env_timeout}
    return session.spec.to_json() | {"session": asked, "versions": versions(), "command": command()}


def run_all(sessions: Sequence[Session], workers: int) -> list[Result]:
    """Several sessions, on as many threads: compiled code leaves Python, so each has a core to itself."""
    for session in sessions:  # before the first of them is trained
        if session.folder and not session.resume:
            check_writable(session.folder)
            run_folder.check_free(session.folder)
    if workers == 1:
        return [run(session) for session in sessions]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(run, sessions))


class Opened(NamedTuple):
    """Something that acts, and the task it acts in."""

    task: Task
    act: Act
    program: Program | None


def open_saved(path: Path, task: str | None = None, env_kwargs: Mapping[str, Any] | None = None) -> Opened:
    """A program with its task, or with the one that is named; the network of a finished run that has no program."""
    finished = (path / run_folder.CONFIG).exists() and (path / run_folder.RESULT).exists()
    if finished and not (path / run_folder.PROGRAM_JSON).exists():
        if env_kwargs:
            raise DiprlError(f"{path} holds a network, which plays where it was trained: leave out --env-kwargs")
        return open_network(path, task)
    program = run_folder.load_program(path)
    played = run_folder.task_of(path, program, task, env_kwargs)
    return Opened(played, program_act(played, program), program)


def open_network(folder: Path, task: str | None = None) -> Opened:
    use_compilation_cache()
    session = resume_session(folder, task)
    make_agent = find_method(session.spec.method).make_agent
    trained = load_trained(run_folder.find_saved(folder).arrays, session.task, session.spec, make_agent)
    return Opened(session.task, acting(session.task, trained, None), None)

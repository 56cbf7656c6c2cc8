"""Run folders: everything about one run in plain files, written by one process at a time."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.runs.result import Result
from diprl.runs.spec import RunSpec
from diprl.system.files import read_json, write_json, write_text
from diprl.system.locks import try_lock
from diprl.system.storage import is_stored, load_facts

if TYPE_CHECKING:
    from diprl.tasks.base import Task

CONFIG, RESULT, MODEL = "config.json", "result.json", "model"
CHECKPOINT = "checkpoint-"
"""What the names of checkpoints begin with; the name of their stage follows."""
PROGRAM_TEXT, PROGRAM_JSON = "program.txt", "program.json"
METRICS_CSV, METRICS_JSONL = "metrics.csv", "metrics.jsonl"
LOCK = ".lock"


def free_folder(out: Path, name: str) -> Path:
    """`out/name`, or the first of `out/name-2`, `out/name-3`, … that does not exist yet."""
    folder, number = out / name, 1
    while folder.exists():
        number += 1
        folder = out / f"{name}-{number}"
    return folder


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold the folder for this process; a second run pointed at it is refused."""
    with try_lock(folder / LOCK) as held:
        if not held:
            raise DiprlError(f"another run is writing to {folder}: choose another --out or wait")
        yield


def discard(folder: Path) -> None:
    """Remove what a run that never learnt anything has written."""
    for name in (CONFIG, METRICS_CSV, METRICS_JSONL, PROGRAM_TEXT, LOCK):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):  # somebody else's files are in it
        folder.rmdir()


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints of a run's stages, by name."""
    names = {path.name.removesuffix(".previous") for path in folder.glob(f"{CHECKPOINT}*")}
    return [folder / name for name in sorted(names) if is_stored(folder / name)]


def resume_command(folder: Path) -> str:
    """What a user types to go on with a run."""
    return f"diprl train --resume {quote(str(folder))}"


def read_spec(folder: Path) -> RunSpec:
    """The description that a run folder keeps."""
    path = folder / CONFIG
    if not path.exists():
        from diprl.runs.listing import no_run

        raise no_run(folder)
    content = read_json(path)
    try:
        return RunSpec.from_json(content)
    except DiprlError as error:
        raise DiprlError(f"{path}: {error}") from error


def read_result(folder: Path) -> Result | None:
    """The result of a finished run; None of an unfinished one."""
    path = folder / RESULT
    return Result.read(read_json(path), str(path)) if path.exists() else None


def write_result(folder: Path, result: Result) -> None:
    """The program in both forms, then the result, which marks the run as finished."""
    if result.program is not None:
        write_text(folder / PROGRAM_JSON, result.program.to_json())
        write_text(folder / PROGRAM_TEXT, str(result.program))
    write_json(folder / RESULT, result.to_json())


def load_program(path: Path) -> Program:
    """The program of a run folder, or of a program file."""
    if path.is_dir():
        path = path / PROGRAM_JSON
    if not path.exists():
        from diprl.runs.listing import no_program

        raise no_program(path.parent if path.name == PROGRAM_JSON else path)
    return Program.load(path)


def sibling(path: Path, name: str) -> Path:
    """A file next to a program, or inside a run folder."""
    return (path if path.is_dir() else path.parent) / name


def task_of(
    path: Path, program: Program, name: str | None = None, env_kwargs: Mapping[str, Any] | None = None
) -> "Task":
    """The task of a run folder or a program file, unless another is named; a run brings its env_kwargs."""
    from diprl.tasks.registry import load_task, refuse_module

    wanted = name or program.task
    if not wanted:
        raise DiprlError(f"{path} does not say which environment it is for: give --task")
    if not env_kwargs and not name and (path / CONFIG).exists():
        env_kwargs = read_spec(path).env_kwargs
    task = load_task(name or refuse_module(wanted), env_kwargs=env_kwargs)
    found, needed = len(task.signature.features), len(program.signature.features)
    if found != needed or type(task.signature.actions) is not type(program.signature.actions):
        raise DiprlError(
            f"the program of {path} does not fit {task.name}: it reads {needed} features, that has {found}"
        )
    return task


class Saved(NamedTuple):
    """Where the parts of something saved lie."""

    spec: RunSpec
    arrays: Path
    """The file with the training state."""
    result: dict[str, Any] | None
    """None of a run that is not finished."""
    folder: Path | None


def find_saved(path: Path) -> Saved:
    """The parts of a run folder, a model or a checkpoint."""
    if path.is_dir():
        return in_folder(path)
    facts = load_facts(path)
    if not isinstance(facts.get("spec"), dict):
        raise DiprlError(f"{path}: not a saved model")
    try:
        spec = RunSpec.from_json(facts["spec"])
    except DiprlError as error:
        raise DiprlError(f"{path}: {error}") from error
    result = facts.get("result")
    return Saved(spec, path, result if isinstance(result, dict) else None, None)


def in_folder(folder: Path) -> Saved:
    spec = read_spec(folder)
    if (folder / RESULT).exists() and is_stored(folder / MODEL):
        return Saved(spec, folder / MODEL, read_json(folder / RESULT), folder)
    stored = checkpoints(folder)
    if not stored:
        raise DiprlError(f"{folder} holds a run that has not written a checkpoint yet")
    latest = max(stored, key=lambda path: load_facts(path).get("steps", 0))
    return Saved(spec, latest, None, folder)

"""Run folders: everything about one run in plain files, written by one process at a time.

What lies in a folder, how each run stands, and what to say where one is looked for in vain.
"""

import os
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
from diprl.system.processes import try_lock
from diprl.system.storage import is_stored, load_facts

if TYPE_CHECKING:
    from diprl.tasks.base import Task

CONFIG, RESULT, MODEL = "config.json", "result.json", "model"
CHECKPOINT = "checkpoint-"
"""What the names of checkpoints begin with; the name of their stage follows."""
PROGRAM_TEXT, PROGRAM_JSON = "program.txt", "program.json"
METRICS_CSV, METRICS_JSONL = "metrics.csv", "metrics.jsonl"
LOCK = ".lock"
NAMED = 5
"""How many of several runs a sentence names."""


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


def check_free(folder: Path) -> None:
    """Refuse a folder in which a new run would overwrite something."""
    if (folder / CONFIG).exists():
        raise DiprlError(f"{folder} already holds a run: choose another --out, or continue it with --resume")
    ours = (RESULT, MODEL, PROGRAM_TEXT, PROGRAM_JSON, METRICS_CSV, METRICS_JSONL)
    found = [name for name in ours if (folder / name).exists()] + [path.name for path in checkpoints(folder)]
    if found:
        raise DiprlError(f"{folder} holds {found[0]}, which the run would overwrite: choose another --out")


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
        raise no_program(path.parent if path.name == PROGRAM_JSON else path)
    return Program.load(path)


def front_of_run(path: Path) -> tuple[Program, ...]:
    """The programs of all sizes that a run folder holds; none for a program file."""
    result = read_result(path) if path.is_dir() else None
    return tuple(entry.program for entry in result.front) if result and result.front else ()


def sibling(path: Path, name: str) -> Path:
    """A file next to a program, or inside a run folder."""
    return (path if path.is_dir() else path.parent) / name


def spec_beside(path: Path, program: Program) -> RunSpec:
    """The description of the run that a program comes from: that of its folder, if it is about the same task."""
    folder = path if path.is_dir() else path.parent
    try:
        found = read_spec(folder) if (folder / CONFIG).exists() else None
    except DiprlError:
        if path.is_dir():
            raise
        found = None  # a config.json of something else lies beside the program
    return found if found and found.task == program.task else RunSpec(program.task)


def task_of(
    path: Path, program: Program, name: str | None = None, env_kwargs: Mapping[str, Any] | None = None
) -> "Task":
    """The task of a run folder or a program file, unless another is named; a run brings its env_kwargs."""
    from diprl.tasks.registry import load_task

    if not name and not program.task:
        raise DiprlError(f"{path} does not say which environment it is for: give --task")
    spec = spec_beside(path, program)
    source = spec.source(name)
    if not env_kwargs and (not name or (spec.origin and spec.origin.source == source.source)):
        env_kwargs = spec.env_kwargs
    task = load_task(source, env_kwargs=env_kwargs)
    has, needed = len(task.signature.features), len(program.signature.features)
    if has != needed or type(task.signature.actions) is not type(program.signature.actions):
        raise DiprlError(f"the program of {path} does not fit {task.name}: it reads {needed} features, that has {has}")
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


def run_folders(folder: Path) -> Iterator[Path]:
    """Every folder below, or this one, that holds a run."""
    for place, inner, files in os.walk(folder):
        inner.sort()
        if CONFIG in files:
            inner.clear()
            yield Path(place)


def look_at(folder: Path) -> dict[str, Any]:
    """What is known of a run and how it stands: finished, running, unfinished or broken."""
    row: dict[str, Any] = {"run": str(folder), "state": "finished", "note": ""}
    try:
        spec = read_spec(folder)
        row |= {"task": spec.task, "method": spec.method, "seed": spec.seed}
        result = read_result(folder)
    except (DiprlError, OSError) as error:
        return row | {"state": "broken", "note": str(error)}
    if result is not None:
        return row | {"score": result.score.mean, "ci95": result.score.summary()["ci95"], **sizes(result.program)}
    if is_running(folder):
        return row | {"state": "running"}
    return row | {"state": "unfinished", "note": f"resume with: {resume_command(folder)}"}


def sizes(program: Program | None) -> dict[str, int]:
    """How large a program is; a network has no such sizes."""
    return {"conditions": program.conditions, "numbers": program.coefficients} if program else {}


def is_running(folder: Path) -> bool:
    """Whether another process writes to the folder."""
    if not (folder / LOCK).exists():
        return False
    try:
        with try_lock(folder / LOCK) as held:
            return not held
    except OSError:  # somebody else's folder
        return False


def no_program(path: Path) -> DiprlError:
    """Why there is no program at a place, and what to do instead."""
    if not path.is_dir():
        return DiprlError(f"there is no program at {path}")
    if not (path / CONFIG).exists():
        return no_run(path)
    found = look_at(path)
    if found["state"] == "broken":
        return DiprlError(found["note"])
    if "conditions" in found:
        return DiprlError(f"{path} holds no program: its program.json is missing")
    if found["state"] == "finished":
        return DiprlError(f"{path} holds a network ({found['method']:.40}), no program: diprl eval and compare take it")
    so_far = f", or take its program so far: {path / PROGRAM_TEXT}" if (path / PROGRAM_TEXT).exists() else ""
    return DiprlError(f"{path} is {found['state']}: {found['note'] or 'wait for it'}{so_far}")


def no_run(folder: Path) -> DiprlError:
    """Why a folder is no run, with the runs that it holds further down."""
    inside = [str(each) for each in run_folders(folder)]
    if not inside:
        return DiprlError(f"{folder} holds no run (diprl runs lists those that there are)")
    more = f" and {len(inside) - NAMED} more (see diprl runs {folder})" if len(inside) > NAMED else ""
    return DiprlError(f"{folder} holds {len(inside)} runs: name one of {', '.join(inside[:NAMED])}{more}")

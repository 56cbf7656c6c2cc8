"""The runs that lie in a folder, how each of them stands, and what to say where one is looked for in vain."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diprl.errors import DiprlError
from diprl.runs.folder import CONFIG, LOCK, PROGRAM_TEXT, read_result, read_spec, resume_command
from diprl.runs.result import Result
from diprl.runs.spec import RunSpec
from diprl.system.locks import try_lock

NAMED = 5
"""How many of several runs a sentence names."""


@dataclass(frozen=True)
class Found:
    """A run folder and what is known of it."""

    folder: Path
    state: str
    """finished, running, unfinished or broken."""
    note: str = ""
    """What to do about it, or what is wrong with it."""
    spec: RunSpec | None = None
    result: Result | None = None

    def to_json(self) -> dict[str, Any]:
        spec, result = self.spec, self.result
        program = result.program if result else None
        return {
            "folder": str(self.folder),
            "task": spec.task if spec else None,
            "method": spec.method if spec else None,
            "seed": spec.seed if spec else None,
            "score": result.score.summary() if result else None,
            "conditions": program.conditions if program else None,
            "numbers": program.coefficients if program else None,
            "state": self.state,
            "note": self.note,
        }


def run_folders(folder: Path) -> Iterator[Path]:
    """Every folder below, or this one, that holds a run."""
    for place, inner, files in os.walk(folder):
        inner.sort()
        if CONFIG in files:
            inner.clear()
            yield Path(place)


def look_at(folder: Path) -> Found:
    """How a run stands; one that cannot be read is told, not raised."""
    spec = None
    try:
        spec = read_spec(folder)
        result = read_result(folder)
    except (DiprlError, OSError) as error:
        return Found(folder, "broken", str(error), spec)
    if result is not None:
        return Found(folder, "finished", "", spec, result)
    if is_running(folder):
        return Found(folder, "running", "", spec)
    return Found(folder, "unfinished", f"resume with: {resume_command(folder)}", spec)


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
    if found.state == "finished" and found.spec:
        method = found.spec.method
        return DiprlError(f"{path} holds a network ({method:.40}), not a program: diprl eval and compare take it")
    if found.state == "broken":
        return DiprlError(found.note)
    so_far = f", or take its program so far: {path / PROGRAM_TEXT}" if (path / PROGRAM_TEXT).exists() else ""
    return DiprlError(f"{path} is {found.state}: {found.note or 'wait for it'}{so_far}")


def no_run(folder: Path) -> DiprlError:
    """Why a folder is no run, with the runs that it holds further down."""
    inside = [str(each) for each in run_folders(folder)]
    if not inside:
        return DiprlError(f"{folder} holds no run (diprl runs lists those that there are)")
    more = f" and {len(inside) - NAMED} more (see diprl runs {folder})" if len(inside) > NAMED else ""
    return DiprlError(f"{folder} holds {len(inside)} runs: name one of {', '.join(inside[:NAMED])}{more}")

"""The runs that lie in a folder, how each of them stands, and what to say where one is looked for in vain."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.runs.folder import CONFIG, LOCK, PROGRAM_TEXT, read_result, read_spec, resume_command
from diprl.system.locks import try_lock

NAMED = 5
"""How many of several runs a sentence names."""


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

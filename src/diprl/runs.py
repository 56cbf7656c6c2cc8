"""Run folders: everything about one run in plain files, written by one process at a time."""

import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.system.files import check_writable, read_json, write_json, write_text
from diprl.system.locks import try_lock
from diprl.train.config import Config

CONFIG, CHECKPOINT, RESULT = "config.json", "checkpoint", "result.json"
TUNING_CHECKPOINT = "checkpoint-tuning"
"""Of a method's second phase, where it has one."""
PROGRAM_TEXT, PROGRAM_JSON = "program.txt", "program.json"
METRICS_CSV, METRICS_JSONL = "metrics.csv", "metrics.jsonl"
LOCK = ".lock"
make_folder = check_writable
__all__ = ["read_json", "write_json", "write_text"]


def free_folder(out: Path, name: str) -> Path:
    """`out/name`, or the first of `out/name-2`, `out/name-3`, … that does not exist yet."""
    folder, number = out / name, 1
    while folder.exists():
        number += 1
        folder = out / f"{name}-{number}"
    return folder


def discard(folder: Path) -> None:
    """Remove what a run that never learnt anything has written."""
    for name in (CONFIG, METRICS_CSV, METRICS_JSONL, LOCK):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):  # somebody else's files are in it
        folder.rmdir()


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold the folder for this process; a second run pointed at it is refused."""
    with try_lock(folder / LOCK) as held:
        if not held:
            raise DiprlError(f"another run is writing to {folder}: choose another --out or wait")
        yield


def describe_run(
    method: str, preset: str, task: str, seed: int, config: Config, env_kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The header of a run: enough to repeat it."""
    return {
        "schema": 1,
        "task": task,
        "method": method,
        "preset": preset,
        "seed": seed,
        "env_kwargs": env_kwargs,
        "settings": asdict(config),
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("diprl", "jax", "jaxlib", "numpy", "gymnasium")},
        "command": ["diprl", *sys.argv[1:]],
    }


def load_program(path: Path) -> Program:
    """The program of a run folder, or of a program file."""
    if path.is_dir():
        path = path / PROGRAM_JSON
    if not path.exists():
        raise DiprlError(f"there is no program at {path}")
    return Program.load(path)


def sibling(path: Path, name: str) -> Path:
    """A file next to a program, or inside a run folder."""
    return (path if path.is_dir() else path.parent) / name

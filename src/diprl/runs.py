"""Run folders: everything about one run in plain files, written by one process at a time."""

import fcntl
import json
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
from diprl.train.config import Config
from diprl.train.files import write_whole

CONFIG, CHECKPOINT, RESULT = "config.json", "checkpoint", "result.json"
TUNING_CHECKPOINT = "checkpoint-tuning"
"""Of a method's second phase, where it has one."""
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


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".write-test"
        probe.write_text("")
        probe.unlink()
    except OSError as error:
        raise DiprlError(f"the output folder {folder} cannot be written: {error.strerror}") from error


def discard(folder: Path) -> None:
    """Remove what a run that never learnt anything has written."""
    for name in (CONFIG, METRICS_CSV, METRICS_JSONL, LOCK):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):  # somebody else's files are in it
        folder.rmdir()


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold the folder for this process; a second run pointed at it is refused."""
    with open(folder / LOCK, "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise DiprlError(f"another run is writing to {folder}: choose another --out or wait") from error
        yield


def write_json(path: Path, content: Any) -> None:
    """Write a file whole or not at all."""
    write_text(path, json.dumps(content, indent=2) + "\n")


def write_text(path: Path, text: str) -> None:
    write_whole(path, text.encode())


def read_json(path: Path, limit: int = 10_000_000) -> dict[str, Any]:
    """A JSON object from a file of bounded size."""
    try:
        with open(path, "rb") as file:
            text = file.read(limit + 1)
        if len(text) > limit:
            raise DiprlError(f"{path}: larger than {limit} bytes, so not one of ours")
        content = json.loads(text.decode("utf-8"))
    except OSError as error:
        raise DiprlError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise DiprlError(f"{path}: not valid JSON") from error
    if not isinstance(content, dict):
        raise DiprlError(f"{path}: expected a JSON object")
    return content


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

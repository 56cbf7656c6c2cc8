"""One run of a grid on this machine: train, score on the reference environment, hand back the record."""

import platform
import shlex
import sys
from dataclasses import asdict
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from diprl import runs
from diprl.experiment.grid import Run
from diprl.experiment.records import Record, thinned_curve
from diprl.tasks.base import Task
from diprl.train.observers import read_rows

SCHEMA = 1
PACKAGES = ("diprl", "jax", "jaxlib", "numpy", "gymnasium", "minigrid", "mujoco", "scikit-learn")
REFERENCE, TWIN = "reference", "twin"


@cache
def cached_task(name: str) -> Task:
    """One task per process, so that its runs share compiled code."""
    from diprl.tasks.registry import load_task

    return load_task(name)


def execute(run: Run, folder: Path) -> Record:
    """Do a run in its folder, from its checkpoint where there is one."""
    from diprl.runner import Plan
    from diprl.runner import run as finish
    from diprl.system.cache import use_compilation_cache
    from diprl.train.collector import device_name

    use_compilation_cache()
    plan = Plan(
        task=cached_task(run.task),
        method=run.method,
        preset=run.preset,
        config=run.config,
        seed=run.seed,
        folder=folder,
        episodes=run.episodes,
        resume=(folder / runs.CONFIG).exists(),
    )
    finished = finish(plan)
    result: Record = finished.record() | {"wall_seconds": round(finished.wall_seconds, 3)}
    result["score"] = scored(result["score"], finished.score.returns, REFERENCE)
    del result["folder"]
    curve = thinned_curve(read_rows(folder / runs.METRICS_JSONL))
    return header(run, device_name()) | result | {"curve": curve}


def header(run: Run, device: str) -> Record:
    """What was run, with what, where."""
    return {
        "schema": SCHEMA,
        "key": run.key,
        "task": run.task,
        "method": run.method,
        "preset": run.preset,
        "variant": run.variant,
        "seed": run.seed,
        "settings": asdict(run.config),
        "versions": versions(),
        "device": device,
        "command": command(),
    }


def scored(summary: dict[str, Any], returns: Any, environment: str) -> dict[str, Any]:
    """A score with every return and where it was measured."""
    return summary | {"returns": [round(float(value), 6) for value in returns], "environment": environment}


def versions() -> dict[str, str]:
    """Python and the packages that are installed here."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def command() -> str:
    """The command line, as a reader would repeat it."""
    script = Path(sys.argv[0]).name
    return shlex.join(["diprl" if script == "__main__.py" else script, *sys.argv[1:]])

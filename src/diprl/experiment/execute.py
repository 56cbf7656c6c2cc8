"""One run of a grid on this machine: the same path as `diprl train`, in a work folder."""

from functools import cache
from pathlib import Path

from diprl.experiment.records import Record
from diprl.runs.spec import RunSpec
from diprl.tasks.base import Task


@cache
def cached_task(name: str) -> Task:
    """One task per process, so that its runs share compiled code."""
    from diprl.tasks.registry import load_task

    return load_task(name)


def execute(spec: RunSpec, folder: Path) -> Record:
    """Do a run in its folder, from its checkpoint where there is one, and give its record."""
    from diprl.methods.registry import run
    from diprl.runs.folder import CONFIG
    from diprl.runs.session import Session
    from diprl.system.cache import use_compilation_cache

    use_compilation_cache()
    session = Session(spec, cached_task(spec.task), folder, resume=(folder / CONFIG).exists())
    return run(session).to_json()

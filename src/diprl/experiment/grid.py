"""A grid of runs that any number of processes work through together, and that survives being killed.

Each run has a key made of everything that decides its result. A process claims a run by locking a file, which the
operating system releases however the process ends; it does the run in a work folder that holds its checkpoint, appends
the record and only then removes the folder. So a finished run is never repeated and an interrupted one is continued.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from diprl.errors import DiprlError
from diprl.experiment.records import Record, Store
from diprl.runs.spec import RunSpec
from diprl.system.processes import try_lock

WORK, CLAIMS = "work", "work/claims"
PATIENCE = 0.5
"""Seconds between looks at runs that another process holds."""
Execute = Callable[[RunSpec, Path], Record]
"""Does a run in a work folder, continuing what it finds there."""
Announce = Callable[[str], None]
Failures = dict[str, str]
"""What went wrong, by the key of the run."""


@dataclass(frozen=True)
class Grid:
    """Runs to do and the folder that their records are kept in."""

    folder: Path
    runs: tuple[RunSpec, ...]

    @property
    def store(self) -> Store:
        return Store(self.folder)

    def pending(self) -> list[RunSpec]:
        """Runs without a record, each key once."""
        done = self.store.read()
        return list({run.key: run for run in self.runs if run.key not in done}.values())

    def work_folder(self, run: RunSpec) -> Path:
        return self.folder / WORK / run.slug

    def finish(self, run: RunSpec, record: Record, announce: Announce) -> None:
        """Write the record of a run, and only then remove its work folder."""
        self.store.append(record)
        announce(f"finished {run.title}: {record['score']['mean']:.2f}")
        shutil.rmtree(self.work_folder(run), ignore_errors=True)

    def sweep(self) -> None:
        """Remove the work folders of runs whose process died between writing the record and tidying up."""
        done = self.store.read()
        for run in self.runs:
            if run.key in done and self.work_folder(run).exists():
                with claim(self.folder, run.slug) as held:
                    if held:
                        shutil.rmtree(self.work_folder(run), ignore_errors=True)


def failed(run: RunSpec, reason: object, announce: Announce) -> Failures:
    """The failure of one run, announced."""
    announce(f"failed   {run.title}: {reason}")
    return {run.key: f"{run.title}: {reason}"}


def work_through(grid: Grid, execute: Execute, announce: Announce) -> Failures:
    """Do every run that is neither done nor held by another process, until none is left."""
    grid.sweep()
    failures: Failures = {}
    while waiting := [run for run in grid.pending() if run.key not in failures]:
        held = [attempt(grid, run, execute, announce, failures) for run in waiting]
        if not any(held):
            time.sleep(PATIENCE)
    return failures


def attempt(grid: Grid, run: RunSpec, execute: Execute, announce: Announce, failures: Failures) -> bool:
    """Do one run if it is free and nobody has finished it meanwhile; tells whether it was free."""
    folder = grid.work_folder(run)
    with claim(grid.folder, run.slug) as held:
        if held and run.key not in grid.store.read():
            announce(f"{'continue' if folder.exists() else 'begin   '} {run.title}")
            try:
                grid.finish(run, execute(run, folder), announce)
            except DiprlError as error:
                failures |= failed(run, error, announce)
        return held


@contextmanager
def claim(folder: Path, name: str) -> Iterator[bool]:
    """Hold a name against every other process for as long as the block lasts; False where another one holds it."""
    path = folder / CLAIMS / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with try_lock(path) as held:
        yield held

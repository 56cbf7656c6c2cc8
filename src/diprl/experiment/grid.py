"""A grid of runs that any number of processes work through together, and that survives being killed.

Each run has a key made of everything that decides its result. A process claims a run by locking a file, which the
operating system releases however the process ends; it does the run in a work folder that holds its checkpoint, appends
the record and only then removes the folder. So a finished run is never repeated and an interrupted one is continued.
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from diprl.errors import DiprlError
from diprl.runs.spec import RunSpec
from diprl.system.files import check_writable, open_regular, read_bytes
from diprl.system.processes import try_lock

Record = dict[str, Any]

RECORDS, LOCK = "records.jsonl", ".records.lock"
LARGEST = 200_000_000
"""Bytes of records that are read at all."""
WORK, CLAIMS = "work", "work/claims"
PATIENCE = 0.5
"""Seconds between looks at runs that another process holds."""
Execute = Callable[[RunSpec, Path], Record]
"""Does a run in a work folder, continuing what it finds there."""
Announce = Callable[[str], None]
Failures = dict[str, str]
"""What went wrong, by the key of the run."""


class Store:
    """The records of a folder, one JSON line per finished run; any number of processes may read and append at once.

    What is learnt about a run later, such as its score on another machine's environment, is a line of its own that
    `amends` the record; reading joins the two.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / RECORDS

    def append(self, record: Record) -> bool:
        """Add a record, durably, unless one with its key is there; tells whether it was added."""
        return self.extend([record]) == 1

    def amend(self, key: str, kind: str, values: Record) -> bool:
        """Add a line that adds or replaces fields of a record, unless it has one of this kind; tells whether."""
        return self.append({"key": f"{key}#{kind}", "amends": key, "values": values})

    def extend(self, records: Sequence[Record]) -> int:
        """Add those records whose keys are new; tells how many there were."""
        check_writable(self.folder)
        with FileLock(self.folder / LOCK), open_regular(self.path, os.O_RDWR | os.O_CREAT) as file:
            content = file.read()
            file.truncate(file.seek(content.rfind(b"\n") + 1))  # a crash may have left half a line
            known = {record["key"] for record in parse_lines(content, self.path)}
            fresh = {record["key"]: record for record in records if record["key"] not in known}
            file.write(b"".join(to_line(record) for record in fresh.values()))
            file.flush()
            os.fsync(file.fileno())
        return len(fresh)

    def lines(self) -> list[Record]:
        """Every complete line as it was written."""
        return list(parse_lines(read_bytes(self.path, LARGEST), self.path)) if self.path.exists() else []

    def read(self) -> dict[str, Record]:
        """The records by key, amendments applied."""
        lines = self.lines()
        records = {line["key"]: line for line in lines if "amends" not in line}
        for line in lines:
            if line.get("amends") in records:
                records[line["amends"]] |= line["values"]
        return records


def to_line(record: Record) -> bytes:
    return json.dumps(finite(record), ensure_ascii=False, allow_nan=False).encode() + b"\n"


def finite(value: Any) -> Any:
    """The value in strict JSON: a number that is not finite becomes null."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)


def parse_lines(content: bytes, path: Path) -> Iterator[Record]:
    """The complete lines; the piece after the last newline is a write that a crash cut short."""
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        try:
            record = json.loads(line)
            record["key"]
        except (ValueError, RecursionError, KeyError, TypeError) as error:
            raise DiprlError(f"{path}, line {number}: not a record; remove the line to go on") from error
        yield record


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


def claim(folder: Path, name: str) -> AbstractContextManager[bool]:
    """Hold a name against every other process for as long as the block lasts; False where another one holds it."""
    path = folder / CLAIMS / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return try_lock(path)

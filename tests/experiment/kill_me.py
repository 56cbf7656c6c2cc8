"""A process that works through a small grid and dies at a given moment: python -m tests.experiment.kill_me FOLDER."""

import os
import signal
import sys
from pathlib import Path

from diprl.experiment import grid as grids
from diprl.experiment.grid import Grid, work_through
from tests.experiment.fixtures import die_at, make_run, step_by_step

SEEDS = (1, 2, 3)


def small_grid(folder: Path) -> Grid:
    return Grid(folder, tuple(make_run(seed=seed) for seed in SEEDS))


def dangerous_store() -> None:
    """Die before, within or after the writing of a record."""
    whole_line, remove = grids.to_line, grids.shutil.rmtree

    def to_line(record: grids.Record) -> bytes:
        die_at(f"{record['seed']}:before record")
        line = whole_line(record)
        if os.environ.get("DIE_AT") == f"{record['seed']}:torn record":
            with open(Path(sys.argv[1]) / grids.RECORDS, "ab") as file:
                file.write(line[: len(line) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return line

    def rmtree(folder: Path, ignore_errors: bool) -> None:
        die_at(f"{folder.name.split('seed')[1][0]}:after record")
        remove(folder, ignore_errors=ignore_errors)

    grids.to_line = to_line
    grids.shutil.rmtree = rmtree  # type: ignore[assignment]


if __name__ == "__main__":
    dangerous_store()
    work_through(small_grid(Path(sys.argv[1])), step_by_step, lambda _: None)

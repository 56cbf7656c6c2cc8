"""`diprl reproduce`: the paper's tables and figures, from runs made here."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import tyro

from diprl.cli.options import JSONOption, MaybeCount, one_of
from diprl.experiment.request import Request
from diprl.terminal.layout import say
from diprl.terminal.progress import Working

TABLES = tomllib.loads((files("diprl.experiment") / "tables.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, kw_only=True)
class Reproduce(Request, JSONOption):
    """Do the runs of an experiment that have no record yet, then print and write its tables and figures."""

    experiment: Annotated[str, tyro.conf.Positional, one_of(*TABLES["experiments"], "all")]
    """Which of the paper's experiments."""
    executor: Annotated[str, one_of("local", "vmap", "ray", "none")] = "local"
    """Processes here, many runs in one compiled call, a cluster, or only tables of what there is."""
    workers: MaybeCount = None
    """Worker processes of the local executor; default: one per core."""
    merge: tuple[Path, ...] = ()
    """Folders with records from other machines to take over first."""

    def run(self) -> int:
        with Working("looking for records") as working:
            from diprl.experiment.executors import find_executor, print_line
            from diprl.experiment.grid import Grid
            from diprl.experiment.reproduce import merge, reproduce
            from diprl.experiment.suites import find_suites, requested_runs

            suites, executor = find_suites(self.experiment), find_executor(self.executor, self.workers)
            if self.merge:
                print_line(f"merged {merge(self.folder, self.merge)} records")
            grid = Grid(self.folder, tuple(run for _, runs in requested_runs(suites, self) for run in runs))
            total = len({run.key for run in grid.runs})
            working.follow(lambda: (f"{total - len(grid.pending())} of {total} runs", 1 - len(grid.pending()) / total))
            reports, failures = reproduce(suites, self, executor, print_line)
        for report in reports:
            say(f"{report.text}\nfiles: {report.folder}\n")
        for failure in failures.values():
            print_line(f"diprl: failed: {failure}")
        missing = [run.title for run in grid.pending()]
        pages = [report.folder / "README.md" for report in reports]
        self.print_json(pages=pages, missing=missing, failures=list(failures.values()))
        return 1 if missing else 0

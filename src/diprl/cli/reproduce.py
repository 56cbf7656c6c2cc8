"""`diprl reproduce`: the paper's tables and figures, from runs made here."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from diprl.experiment.request import Request


@dataclass(frozen=True, kw_only=True)
class Reproduce(Request):
    """Do the runs of an experiment that have no record yet, then print and write its tables and figures."""

    experiment: Annotated[str, tyro.conf.Positional]
    """discrete, continuous, alpha, target-entropy, depth, entropy, failure, or all."""
    executor: str = "local"
    """local (processes), vmap (many runs in one compiled call), ray (a cluster) or none (tables of what there is)."""
    workers: int | None = None
    """Worker processes of the local executor; default: one per core."""
    merge: tuple[Path, ...] = ()
    """Folders with records from other machines to take over first."""

    def run(self) -> int:
        from diprl.experiment.executors import find_executor, print_line
        from diprl.experiment.reproduce import merge, reproduce
        from diprl.experiment.suites import find_suites

        suites, executor = find_suites(self.experiment), find_executor(self.executor, self.workers)
        if self.merge:
            print_line(f"merged {merge(self.folder, self.merge)} records")
        reports, failures = reproduce(suites, self, executor, print_line)
        for report in reports:
            print(report.text)
            print(f"files: {report.folder}\n")
        for failure in failures.values():
            print(f"diprl: failed: {failure}", file=sys.stderr)
        return 1 if any(report.results.missing for report in reports) else 0

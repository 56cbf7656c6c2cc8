"""`diprl reproduce`: the paper's tables and figures, from runs made here."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from diprl.cli.options import parse_seeds

if TYPE_CHECKING:
    from diprl.experiment.suites import Request


@dataclass(frozen=True)
class Command:
    """Do the runs of an experiment that have no record yet, then print and write its tables and figures."""

    experiment: Annotated[str, tyro.conf.Positional]
    """discrete, continuous, alpha, target-entropy, depth, entropy, failure, or all."""
    quick: bool = False
    """Tiny budgets, to see that everything works; in a folder of their own."""
    preset: str = "default"
    """Settings: default, paper, or both."""
    methods: str | None = None
    """Only these methods, such as diprl,pi-prl."""
    tasks: str | None = None
    """Only these tasks, such as CartPole-v1,Acrobot-v1."""
    seeds: str | None = None
    """Training seeds, such as 123,321,456 (the paper's, and the default) or 0:10."""
    executor: str = "local"
    """local (processes), vmap (many runs in one compiled call), ray (a cluster) or none (tables of what there is)."""
    workers: int | None = None
    """Worker processes of the local executor; default: one per core."""
    merge: tuple[Path, ...] = ()
    """Folders with records from other machines to take over first."""
    out: Path = Path("results")
    """Where records, tables and figures are kept."""

    def run(self) -> int:
        from diprl.experiment.executors import find_executor, print_line
        from diprl.experiment.reproduce import merge, reproduce
        from diprl.experiment.suites import find_suites

        request = self.request()
        suites, executor = find_suites(self.experiment), find_executor(self.executor, self.workers)
        if self.merge:
            print_line(f"merged {merge(request.folder, self.merge)} records")
        reports, failures = reproduce(suites, request, executor, print_line)
        for report in reports:
            print(report.text)
            print(f"files: {report.folder}\n")
        for failure in failures.values():
            print(f"diprl: failed: {failure}", file=sys.stderr)
        return 1 if any(report.results.missing for report in reports) else 0

    def request(self) -> "Request":
        from diprl.experiment.suites import Request

        return Request(
            presets=("default", "paper") if self.preset == "both" else (self.preset,),
            methods=names(self.methods),
            tasks=names(self.tasks),
            seeds=tuple(parse_seeds(self.seeds)) if self.seeds else None,
            quick=self.quick,
            out=self.out,
        )


def names(text: str | None) -> tuple[str, ...] | None:
    """The entries of a list with commas.

    >>> names("diprl, ppo")
    ('diprl', 'ppo')
    """
    return None if text is None else tuple(part.strip() for part in text.split(",") if part.strip())

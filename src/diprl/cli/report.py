"""`diprl report`: one page about a run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from diprl.cli.options import check_at_least


@dataclass(frozen=True)
class Command:
    """Write one HTML page about a run: program, scores, curves, partition, a rollout, proofs and exports."""

    run_folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(name="run", metavar="RUN")]
    """A run folder or a program file."""
    out: Path | None = None
    """The page; default report.html in the run folder, or next to the program file."""
    features: str | None = None
    """One or two features to draw the partition over, with a comma between; default: those that matter most."""
    episodes: int = 10
    """Episodes from which the visited states are taken."""
    task: str | None = None
    """The environment to play in; default: the one the program was learnt on."""

    def run(self) -> None:
        from diprl.report import write_report

        check_at_least(self, episodes=1)
        page = write_report(self.run_folder, self.out, self.features, self.episodes, self.task)
        print(f"wrote {page} ({page.stat().st_size / 1e6:.1f} MB)")

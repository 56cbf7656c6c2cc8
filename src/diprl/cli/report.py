"""`diprl report`: one page about a run."""

from dataclasses import dataclass
from typing import Annotated

from diprl.cli.options import Count, MaybePath, MaybeText, ProgramCommand, check_at_least, shown
from diprl.terminal.layout import say
from diprl.terminal.progress import Working


@dataclass(frozen=True, kw_only=True)
class Report(ProgramCommand):
    """Write one HTML page about a run: program, scores, curves, partition, a rollout, proofs and exports."""

    out: MaybePath = None
    """The page; default report.html in the run folder, or next to the program file. An older one is replaced."""
    features: MaybeText = None
    """One or two features to draw the partition over, with a comma between; default: those that matter most."""
    episodes: Count = 10
    """Episodes from which the visited states are taken."""
    task: Annotated[str | None, shown("TASK")] = None
    """The environment; default: the one the program was learnt on."""

    def run(self) -> None:
        check_at_least(self, episodes=1)
        with Working("writing the page"):
            from diprl.report import write_report

            page = write_report(self.program, self.out, self.features, self.episodes, self.task)
        say(f"wrote {page} ({page.stat().st_size / 1e6:.1f} MB)")
        self.print_json(page=page)

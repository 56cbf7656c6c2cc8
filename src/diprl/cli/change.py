"""What the commands that change a program share: both programs are scored, and nothing is replaced unasked."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from diprl.cli.options import Count, MaybePath, PlayCommand, WriteOptions, check_at_least
from diprl.terminal.layout import say_labelled
from diprl.terminal.progress import Working

if TYPE_CHECKING:
    from diprl.program import Program
    from diprl.tasks.base import Task


@dataclass(frozen=True, kw_only=True)
class ChangeCommand(PlayCommand, WriteOptions):
    """A command that writes a changed program and scores both."""

    file: ClassVar[str]
    """Name of the changed program, next to the one it was."""
    out: MaybePath = None
    """Where to write the result; default: polished.json, simplified.json or edited.json next to the program."""
    episodes: Count = 100
    """Fresh episodes on the reference environment that both programs are scored on."""

    def target(self) -> Path:
        """Where the result will be, checked before any work is done."""
        from diprl.runs.folder import sibling
        from diprl.system.files import check_target

        check_at_least(self, episodes=1)
        target = self.out or sibling(self.program, self.file)
        check_target(target, mark="features")
        self.check_free(target)
        return target

    def scores(self, task: "Task", before: "Program", after: "Program") -> dict[str, Any]:
        """Score both programs, print that, and give the summaries by name."""
        from diprl.arena.reference import evaluate_program

        programs = {"before": before, "after": after}
        with Working(f"scoring both on {self.episodes:,} episodes"):
            scores = {name: evaluate_program(task, program, self.episodes) for name, program in programs.items()}
        for name, score in scores.items():
            say_labelled(name, score)
        return {name: score.summary() for name, score in scores.items()}

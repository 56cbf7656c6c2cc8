"""Commands that change a program and compare it with what it was: polish, simplify, edit."""

import os
import shlex
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from diprl.cli.options import JSONOption, PlayCommand
from diprl.errors import DiprlError

if TYPE_CHECKING:
    from diprl.program import Program
    from diprl.tasks.base import Task


@dataclass(frozen=True, kw_only=True)
class ChangeCommand(PlayCommand, JSONOption):
    """A command that writes a changed program and scores both."""

    name: ClassVar[str]
    """The file that the result goes to, unless --out has another."""
    out: Path | None = None
    """Where to write the result; default: polished.json, simplified.json or edited.json next to the program."""
    episodes: int = 100
    """Fresh episodes on the reference environment that both programs are scored on."""

    def print_scores(self, task: "Task", before: "Program", after: "Program") -> dict[str, Any]:
        """Score both programs; gives the summaries by name."""
        from diprl.arena.reference import evaluate_program

        programs = {"before": before, "after": after}
        scores = {name: evaluate_program(task, program, self.episodes) for name, program in programs.items()}
        for name, score in scores.items():
            print(f"{name:7} {score}")
        return {name: score.summary() for name, score in scores.items()}

    @property
    def target(self) -> Path:
        from diprl.runs.folder import sibling

        return self.out or sibling(self.program, self.name)

    def load(self) -> tuple["Program", "Task"]:
        """The program and its task, after a look at where the result will go."""
        from diprl.system.files import check_target

        check_target(self.target, mark="features")
        return super().load()

    def write(self, program: "Program") -> None:
        """Save the result."""
        program.save(self.target)
        print(f"written {self.target}")


@dataclass(frozen=True, kw_only=True)
class Polish(ChangeCommand):
    """Search over a program's numbers on its true return; the result is never worse than the program."""

    name = "polished.json"

    seconds: float = 60.0
    """Wall time to search for."""
    steps: float = float("inf")
    """Environment steps to search for, if that comes first."""
    seed: int = 0
    """Seed of the search."""

    def run(self) -> None:
        from diprl.search.polish import polish
        from diprl.system.device import use_compilation_cache

        use_compilation_cache()
        program, task = self.load()
        found = polish(task, program, self.steps, seconds=self.seconds, seed=self.seed)
        trial = found.trial
        verdict = "accepted" if trial.accepted else "nothing better found, program kept"
        print(f"{verdict}: gain {trial.gain:.2f} ± {trial.error:.2f} on fresh episodes")
        scores = self.print_scores(task, program, found.program)
        print(f"used    {trial.steps:,} environment steps, {found.seconds:.0f} s")
        self.write(found.program)
        self.print_json(**trial._asdict(), **scores, seconds=found.seconds, program=str(found.program))


@dataclass(frozen=True, kw_only=True)
class Simplify(ChangeCommand):
    """Drop conditions, coefficients and digits that do not matter for the score."""

    name = "simplified.json"

    tolerance: float = 0.01
    """How much of the score may be given up, as a fraction."""
    episodes: int = 1000
    """Fresh episodes on the reference environment that both programs are scored on."""

    def run(self) -> None:
        from diprl.methods.retrain import retrainer
        from diprl.search.simplify import simplify
        from diprl.system.device import use_compilation_cache
        from diprl.terminal.printing import STAGE_COLUMNS, body, print_stage

        use_compilation_cache()
        program, task = self.load()
        print(f"before\n\n{body(program)}\n\n{STAGE_COLUMNS}", flush=True)
        found = simplify(task, program, self.tolerance, retrain=retrainer(task, program), show=print_stage)
        print(f"\nafter\n\n{body(found.program)}\n")
        scores = self.print_scores(task, program, found.program)
        print(f"used    {found.steps:,} environment steps")
        self.write(found.program)
        sizes = [program.coefficients, found.program.coefficients]
        self.print_json(coefficients=sizes, **scores, steps=found.steps, program=str(found.program))


@dataclass(frozen=True, kw_only=True)
class Edit(ChangeCommand):
    """Edit a program as text; its behaviour and score are compared before and after."""

    name = "edited.json"

    with_text: Path | None = None
    """Take the edited text from this file instead of opening $EDITOR."""
    continue_training: bool = False
    """Train on from the edited program."""
    total_timesteps: int = 500_000
    """Budget of that training."""
    seed: int = 0
    """Its seed."""

    def run(self) -> None:
        from diprl.search.compare import compare
        from diprl.system.files import read_text

        program, task = self.load()
        text = read_text(self.with_text) if self.with_text else ask_editor(str(program))
        edited = parse_edit(text, program)
        if self.continue_training:
            from diprl.methods.retrain import continue_from

            edited = continue_from(task, edited, self.total_timesteps, self.seed)
        found = compare(program, edited, task, self.episodes)
        print(f"{edited}\n{found}")
        self.write(edited)
        scores = {"before": found.before.summary(), "after": found.after.summary()}
        self.print_json(**scores, changed=found.changed, gain=found.gain.summary())


def ask_editor(text: str) -> str:
    """The text as the user leaves it in $EDITOR."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise DiprlError("no editor is set: set $EDITOR or give the edited text with --with-text FILE")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.txt"
        path.write_text(text, encoding="utf-8")
        try:
            subprocess.run([*shlex.split(editor), str(path)], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise DiprlError(f"the editor '{editor}' failed: {error}") from error
        return path.read_text(encoding="utf-8")


def parse_edit(text: str, program: "Program") -> "Program":
    """The edited program; a text without header speaks of the old one's features and actions."""
    from diprl.program import parse

    edited = parse(text, program.signature if "features:" not in text else None)
    return edited if edited.task else replace(edited, task=program.task)

"""`diprl edit`: change a program by hand, see what the change does, and perhaps go on training from it."""

import os
import shlex
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from diprl.cli.options import ChangeCommand
from diprl.errors import DiprlError

if TYPE_CHECKING:
    from diprl.program import Program


@dataclass(frozen=True, kw_only=True)
class Command(ChangeCommand):
    """Edit a program as text; its behaviour and score are compared before and after."""

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

        program, task = self.load()
        text = self.with_text.read_text(encoding="utf-8") if self.with_text else ask_editor(str(program))
        edited = parse_edit(text, program)
        if self.continue_training:
            from diprl.methods.retrain import continue_from

            edited = continue_from(task, edited, self.total_timesteps, self.seed)
        found = compare(program, edited, task, self.episodes)
        print(f"{edited}\n{found}")
        self.write(edited, "edited.json")
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

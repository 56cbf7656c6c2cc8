"""`diprl edit`: a program changed by hand, and what that does."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from diprl.cli.change import ChangeCommand
from diprl.cli.options import Count, MaybePath
from diprl.errors import DiprlError, ProgramError, visible
from diprl.terminal.layout import say, say_labelled
from diprl.terminal.progress import Working

if TYPE_CHECKING:
    from diprl.program import Program


@dataclass(frozen=True, kw_only=True)
class Edit(ChangeCommand):
    """Edit a program as text; its behaviour and score are compared before and after."""

    file: ClassVar[str] = "edited.json"
    with_text: MaybePath = None
    """Take the edited text from this file instead of opening $EDITOR."""
    continue_training: bool = False
    """Train on from the edited program."""
    total_timesteps: Count = 500_000
    """Budget of that training."""
    seed: Count = 0
    """Its seed."""

    def run(self) -> None:
        from diprl.system.files import read_text

        target, program = self.target(), self.load_program()
        edited = parse_edit(read_text(self.with_text), program) if self.with_text else ask(program)
        edited.save(target)
        with Working("playing both"):
            from diprl.search.compare import compare

            _, task = self.load()
            if self.continue_training:
                from diprl.methods.retrain import continue_from

                edited = continue_from(task, edited, self.total_timesteps, self.seed)
                edited.save(target)
            found = compare(program, edited, task, self.episodes)
        say(f"{edited}\n{found}")
        say_labelled("written", target)
        scores = {"before": found.before.summary(), "after": found.after.summary()}
        self.print_json(**scores, changed=found.changed, gain=found.gain.summary(), written=target)


def ask(program: "Program") -> "Program":
    """The program as the user leaves it in $EDITOR, which opens again while the text has a mistake.

    A text that stays as wrong as it was is kept, and the error says where.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise DiprlError("no editor is set: set $EDITOR or give the edited text with --with-text FILE")
    path, text, wrong = Path(tempfile.mkdtemp()) / "program.txt", str(program), None
    path.write_text(text, encoding="utf-8")
    while True:
        try:
            subprocess.run([*shlex.split(editor), str(path)], check=True)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            raise DiprlError(f"the editor '{editor}' failed: {error}; the text is kept in {path}") from error
        before, text = text, path.read_text(encoding="utf-8")
        if wrong and text == before:
            raise DiprlError(f"{wrong}; the text is kept: correct it, then diprl edit … --with-text {path}")
        try:
            edited = parse_edit(text, program)
        except ProgramError as error:
            wrong = error
            print(visible(f"diprl: {error}\nEnter opens {path} again"), file=sys.stderr, flush=True)
            if sys.stdin.isatty():  # nobody can press a key elsewhere
                input()
            continue
        shutil.rmtree(path.parent)
        return edited


def parse_edit(text: str, program: "Program") -> "Program":
    """The edited program; a text without header speaks of the old one's features and actions."""
    from diprl.program import parse

    edited = parse(text, program.signature if "features:" not in text else None)
    return edited if edited.task else replace(edited, task=program.task)

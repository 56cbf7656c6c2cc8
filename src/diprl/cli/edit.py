"""`diprl edit`: change a program by hand, see what the change does, and perhaps go on training from it."""

import json
import os
import shlex
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from diprl.cli.options import EnvironmentOptions
from diprl.errors import DiprlError

if TYPE_CHECKING:
    from diprl.program import Program


@dataclass(frozen=True)
class Command:
    """Edit a program as text; its behaviour and score are compared before and after."""

    program: Annotated[Path, tyro.conf.Positional]
    """A run folder or a program file."""
    with_text: Path | None = None
    """Take the edited text from this file instead of opening $EDITOR."""
    out: Path | None = None
    """Where to write the result; default: edited.json next to the program."""
    episodes: int = 100
    """Episodes that both programs are scored on."""
    continue_training: bool = False
    """Train on from the edited program."""
    total_timesteps: int = 500_000
    """Budget of that training."""
    seed: int = 0
    """Its seed."""
    task: str | None = None
    """The environment; default: the one the program was learnt on."""
    json: bool = False
    """End standard output with one JSON object."""
    environment: tyro.conf.OmitArgPrefixes[EnvironmentOptions] = field(default_factory=EnvironmentOptions)

    def run(self) -> int:
        from diprl.runs.folder import load_program, sibling, task_of
        from diprl.search.compare import compare

        program = load_program(self.program)
        task = task_of(self.program, program, self.task, self.environment.parsed())
        text = self.with_text.read_text(encoding="utf-8") if self.with_text else ask_editor(str(program))
        edited = parse_edit(text, program)
        if self.continue_training:
            edited = train_on(task, edited, self.total_timesteps, self.seed)
        difference = compare(program, edited, task, self.episodes)
        print(f"{edited}\n{difference}")
        target = self.out or sibling(self.program, "edited.json")
        edited.save(target)
        print(f"written {target}")
        if self.json:
            scores = {"before": difference.before.summary(), "after": difference.after.summary()}
            print(json.dumps(scores | {"changed": difference.changed, "gain": difference.gain.summary()}))
        return 0


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
    from dataclasses import replace

    from diprl.program import parse

    edited = parse(text, program.signature if "features:" not in text else None)
    return edited if edited.task else replace(edited, task=program.task)


def train_on(task: Any, program: "Program", total_timesteps: int, seed: int) -> "Program":
    """The program after more training from where the edit left it."""
    from diprl.methods.retrain import continue_from

    return continue_from(task, program, total_timesteps, seed)

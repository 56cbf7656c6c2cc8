"""`diprl task init`: look at an environment and write a task file about it, to be filled in."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from diprl.cli.options import EnvironmentOptions, JSONOption
from diprl.errors import DiprlError
from diprl.terminal.layout import say


@dataclass(frozen=True, kw_only=True)
class Task(EnvironmentOptions, JSONOption):
    """Write a task file: names, units, ranges and limits of an environment, to be filled in.

    Every command that takes a task takes the file.
    """

    action: Annotated[Literal["init"], tyro.conf.Positional]
    """What to do: init looks at the environment and writes the file."""
    source: Annotated[str, tyro.conf.Positional]
    """The environment: FILE.py:Class, module:Id, a Gymnasium id or a built-in task."""
    out: Path | None = None
    """The file; default: the name of the environment's file or module, in small letters, with .toml."""

    def run(self) -> None:
        from diprl.system.files import check_writable, write_text
        from diprl.tasks.registry import load_task
        from diprl.tasks.template import file_name, task_file

        out = self.out or Path(file_name(self.source))
        if out.exists():
            raise DiprlError(f"{out} is there already: choose another name with --out")
        if out.suffix != ".toml":
            raise DiprlError(f"a task file ends in .toml, so not {out}")
        env_kwargs = self.parsed_env_kwargs()
        text = task_file(load_task(self.source, env_kwargs=env_kwargs), self.source, out, env_kwargs)
        check_writable(out.parent)
        write_text(out, text)
        say(f"wrote {out}: fill in names, units and meanings, then train with: diprl train {out}")
        self.print_json(written=out)

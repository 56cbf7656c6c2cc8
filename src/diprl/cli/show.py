"""`diprl show`: the program as it runs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro


@dataclass(frozen=True)
class Command:
    """Print a saved program, exactly as it runs."""

    program: Annotated[Path, tyro.conf.Positional]
    """A run folder or a program file."""
    json: bool = False
    """Print the JSON form instead of the text."""

    def run(self) -> int:
        from diprl.runs.folder import load_program

        program = load_program(self.program)
        print(program.to_json() if self.json else program)
        return 0

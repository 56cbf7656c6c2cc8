"""`diprl verify`: what can be said about a program for certain."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro


@dataclass(frozen=True)
class Command:
    """Prove or refute the properties of a specification; exit code 0 only if all of them are proved."""

    program: Annotated[Path, tyro.conf.Positional]
    """A run folder or a program file."""
    spec: Annotated[Path, tyro.conf.Positional]
    """A file of properties in YAML."""
    json: bool = False
    """Print the report as one JSON object instead of text."""

    def run(self) -> int:
        from diprl.runs.folder import load_program
        from diprl.verify import verify

        report = verify(load_program(self.program), self.spec)
        print(json.dumps(report.to_dict()) if self.json else report)
        return 0 if report.proved else 1

"""`diprl verify`: what can be said about a program for certain."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from diprl.cli.options import JSONOption, ProgramCommand


@dataclass(frozen=True, kw_only=True)
class Command(ProgramCommand, JSONOption):
    """Prove or refute the properties of a specification; exit code 0 only if all of them are proved."""

    spec: Annotated[Path, tyro.conf.Positional]
    """A file of properties in YAML."""

    def run(self) -> int:
        from diprl.verify import verify

        report = verify(self.load_program(), self.spec)
        self.print_json(**report.to_dict()) if self.json else print(report)
        return 0 if report.proved else 1

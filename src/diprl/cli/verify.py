"""`diprl verify`: what can be said about a program for certain."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro


@dataclass(frozen=True)
class Command:
    """Prove or refute the properties of a specification.

    The exit code is 0 if all are proved, 1 if one is refuted or unknown, 2 after a mistake or an error.
    """

    program: Annotated[Path, tyro.conf.Positional]
    """A run folder or a program file."""
    spec: Annotated[Path, tyro.conf.Positional]
    """A file of properties in YAML."""
    json: bool = False
    """Print the report as one JSON object instead of text."""

    def run(self) -> int:
        from diprl.errors import DiprlError
        from diprl.runs.folder import load_program
        from diprl.verify import verify

        program = load_program(self.program)
        try:
            report = verify(program, self.spec)
        except (ArithmeticError, ValueError, RuntimeError, MemoryError) as error:
            # Exit code 1 means that a property is not proved; an error of ours must not look like that.
            raise DiprlError(f"the verification failed with an error: {error!r}") from error
        print(json.dumps(report.to_dict()) if self.json else report)
        return 0 if report.proved else 1

"""`diprl verify`: properties of a saved program, proved or refuted."""

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Annotated

import tyro

from diprl.cli.options import ProgramCommand, shown
from diprl.errors import DiprlError
from diprl.terminal.layout import say
from diprl.terminal.progress import Working


@dataclass(frozen=True, kw_only=True)
class Verify(ProgramCommand):
    """Prove or refute the properties of a specification.

    The exit code is 0 if all are proved, 1 if one is refuted or unknown, 2 after a mistake or an error.
    """

    spec: Annotated[Path, tyro.conf.Positional, shown("SPEC")]
    """A file of properties in YAML."""

    def run(self) -> int:
        with Working("reading the specification") as working:
            from diprl.verify import load_spec, verify

            program = self.load_program()
            spec = load_spec(self.spec, program)
            number = count(1)
            working.show(f"proving {len(spec.properties)} properties", 0.0)
            try:
                report = verify(program, spec, lambda _: working.show(fraction=next(number) / len(spec.properties)))
            except (ArithmeticError, ValueError, RuntimeError, MemoryError) as error:
                # Exit code 1 means that a property is not proved; an error of ours must not look like that.
                raise DiprlError(f"the verification failed with an error: {error!r}") from error
        self.print_json(**report.to_dict()) if self.json else say(report)
        return 0 if report.proved else 1

"""`diprl verify`: properties of a saved program, proved or refuted."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro

from diprl.cli.options import MaybePath, ProgramCommand, shown
from diprl.errors import DiprlError, check_known
from diprl.terminal.layout import say
from diprl.terminal.progress import Working


@dataclass(frozen=True, kw_only=True)
class Verify(ProgramCommand):
    """Prove or refute the properties of a specification.

    The exit code is 0 if all are proved, 1 if one is refuted or unknown, 2 after a mistake or an error.
    """

    spec: Annotated[Path, tyro.conf.Positional, shown("SPEC")]
    """A file of properties in YAML."""
    arithmetic: Annotated[str | None, shown("{float64,float32}")] = None
    """In which the program will run; default: as the specification says, or float64."""
    certificates: MaybePath = None
    """Folder of proofs about closed loops; those that are there are checked again, not searched for. Default: one in
    the user's cache."""

    def run(self) -> int:
        with Working("reading the specification") as working:
            from diprl.system.files import cache_folder
            from diprl.system.processes import available_cores
            from diprl.verify import load_spec, verify

            program = self.load_program()
            spec = load_spec(self.spec, program)
            if self.arithmetic is not None:
                check_known("arithmetic", ("float64", "float32"), self.arithmetic)
                spec = replace(spec, arithmetic=self.arithmetic)
            folder = self.certificates or cache_folder("certificates")
            try:
                report = verify(program, spec, lambda share, what: working.show(what, share), folder, available_cores())
            except (ArithmeticError, ValueError, RuntimeError, MemoryError) as error:
                # Exit code 1 means that a property is not proved; an error of ours must not look like that.
                raise DiprlError(f"the verification failed with an error: {error!r}") from error
        self.print_json(**report.to_dict()) if self.json else say(report)
        return 0 if report.proved else 1

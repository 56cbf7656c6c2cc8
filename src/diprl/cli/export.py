"""`diprl export`: a program in another language, checked as it is written."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from diprl.errors import DiprlError, unknown

if TYPE_CHECKING:
    from diprl.export import ExportReport


@dataclass(frozen=True)
class Command:
    """Write a saved program in another language and compare it with the interpreter; exit code 1 if they differ."""

    program: Annotated[Path, tyro.conf.Positional]
    """A run folder or a program file."""
    to: str = "python"
    """Targets, with commas between several: python, c, json, latex, svg, st, onnx."""
    out: Path = Path("export")
    """Folder for the files."""
    main: bool = False
    """Also write a C main that reads observations and prints actions."""

    def run(self) -> int:
        from diprl.export import TARGETS, export
        from diprl.runs import load_program, make_folder
        from diprl.tasks.registry import networks_of

        targets = [target.strip() for target in self.to.split(",")]
        for target in targets:
            if target not in TARGETS:
                raise unknown("export target", target, TARGETS)
        if self.main and "c" not in targets:
            raise DiprlError("--main belongs to the C export: add --to c")
        program = load_program(self.program)
        networks = networks_of(program)
        make_folder(self.out)
        reports = [export(program, target, self.out, networks) for target in targets]
        if not self.main:
            reports = [without_main(report) for report in reports]
        print(*reports, sep="\n")
        return 0 if all(report.agrees for report in reports) else 1


def without_main(report: "ExportReport") -> "ExportReport":
    """The same export less the small program to try it with."""
    extra = [path for path in report.files if path.name.endswith("_main.c")]
    for path in extra:
        path.unlink()
    return replace(report, files=tuple(path for path in report.files if path not in extra))

"""`diprl export`: a program in another language, checked as it is written."""

from dataclasses import dataclass
from pathlib import Path

from diprl.cli.options import ProgramCommand
from diprl.errors import DiprlError, unknown


@dataclass(frozen=True, kw_only=True)
class Command(ProgramCommand):
    """Write a saved program in another language and compare it with the interpreter; exit code 1 if they differ."""

    to: str = "python"
    """Targets, with commas between several: python, c, json, latex, svg, st, onnx."""
    out: Path = Path("export")
    """Folder for the files."""
    main: bool = False
    """Also write a C main that reads observations and prints actions."""

    def run(self) -> int:
        from diprl.export import TARGETS, c_main, export, write_files
        from diprl.system.files import check_writable
        from diprl.tasks.mujoco.networks import networks_of

        targets = [target.strip() for target in self.to.split(",")]
        for target in targets:
            if target not in TARGETS:
                raise unknown("export target", target, TARGETS)
        if self.main and "c" not in targets:
            raise DiprlError("--main belongs to the C export: add --to c")
        program = self.load_program()
        networks = networks_of(program)
        check_writable(self.out)
        reports = [export(program, target, self.out, networks) for target in targets]
        print(*reports, sep="\n")
        if self.main:
            print(*("main: wrote", *write_files(c_main.render(program, networks), self.out)))
        return 0 if all(report.agrees for report in reports) else 1

"""`diprl export`: a saved program in other languages."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from diprl.cli.options import ProgramCommand, WriteOptions, one_of
from diprl.errors import DiprlError, check_known
from diprl.export import TARGETS
from diprl.terminal.layout import say
from diprl.terminal.progress import Working


@dataclass(frozen=True, kw_only=True)
class Export(ProgramCommand, WriteOptions):
    """Write a saved program in another language and compare it with the interpreter; exit code 1 if they differ."""

    to: Annotated[str, one_of(*TARGETS)] = "python"
    """Language, or several with commas between them."""
    out: Path = Path("export")
    """Folder for the files."""
    main: bool = False
    """Also write a C main that reads observations and prints actions."""

    def run(self) -> int:
        from diprl.export import export, write_files
        from diprl.export.c import render_main
        from diprl.system.files import check_writable

        targets = [target.strip() for target in self.to.split(",")]
        check_known("export target", TARGETS, *targets)
        if self.main and "c" not in targets:
            raise DiprlError("--main belongs to the C export: add --to c")
        program = self.load_program()
        with Working("writing and checking") as working:
            from diprl.tasks.registry import networks_of

            networks = networks_of(program)
            check_writable(self.out)
            options = {"primitives": networks, "replace": self.force}
            reports = [export(program, target, self.out, **options) for target in working.each(targets)]
            files = write_files(render_main(program), self.out, self.force) if self.main else []
        self.print_json(exports=[asdict(report) | {"agrees": report.agrees} for report in reports], main=files)
        say("\n".join([*map(str, reports), *(f"main: wrote {file}" for file in files)]))
        return 0 if all(report.agrees for report in reports) else 1

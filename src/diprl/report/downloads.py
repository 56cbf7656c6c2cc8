"""The program in other languages, inside the page and checked while it is made."""

from pathlib import Path
from tempfile import TemporaryDirectory

from diprl.export import ExportReport, export
from diprl.program import Program

TITLES = {
    "python": "Python",
    "c": "C99",
    "json": "JSON",
    "latex": "LaTeX",
    "st": "Structured Text",
    "svg": "SVG drawing",
}


def downloads(program: Program) -> list[tuple[ExportReport, dict[str, str]]]:
    """Every text form of the program with its files by name, but for the large networks of primitives."""
    found = []
    for target in TITLES:
        with TemporaryDirectory() as folder:
            report = export(program, target, Path(folder))
            files = {path.name: path.read_text(encoding="utf-8") for path in report.files}
        found.append((report, {name: text for name, text in files.items() if not name.endswith("_main.c")}))
    return found

"""The program in other languages, inside the page and checked on the way."""

import base64
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from diprl.export import TARGETS, export
from diprl.program import Program
from diprl.program.signature import Primitives

TEXTS = ("python", "c", "json", "latex", "st", "svg")
TITLES = {
    "python": "Python",
    "c": "C99",
    "json": "JSON",
    "latex": "LaTeX",
    "st": "Structured Text",
    "svg": "SVG drawing",
}


@dataclass(frozen=True)
class File:
    """A file that the page carries."""

    name: str
    text: str
    address: str
    """A data address to save it from."""


@dataclass(frozen=True)
class Download:
    """One language."""

    title: str
    about: str
    files: tuple[File, ...]
    checks: tuple[str, ...]
    agrees: bool


def downloads(program: Program) -> list[Download]:
    """Every text form of the program; networks of primitives are left out, since they are large."""
    with TemporaryDirectory() as folder:
        return [_download(program, target, Path(folder) / target) for target in TEXTS]


def omitted(program: Program) -> str:
    """What the exports of the page lack, in one sentence."""
    if not isinstance(program.signature.actions, Primitives):
        return ""
    return "The primitives' networks are not part of these files; diprl export adds them."


def _download(program: Program, target: str, folder: Path) -> Download:
    report = export(program, target, folder)
    files = []
    for path in report.files:
        encoded = base64.b64encode(path.read_bytes()).decode()
        address = f"data:text/plain;charset=utf-8;base64,{encoded}"
        files.append(File(path.name, path.read_text(encoding="utf-8"), address))
    checks = tuple(str(check) for check in report.checks)
    return Download(TITLES[target], TARGETS[target], tuple(files), checks, report.agrees)

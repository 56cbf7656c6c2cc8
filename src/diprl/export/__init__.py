"""Programs in other languages, each checked against the interpreter as it is written.

>>> sorted(TARGETS)
['c', 'fmu', 'js', 'json', 'latex', 'onnx', 'python', 'st', 'svg']
"""

import tomllib
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

from diprl.errors import DiprlError, check_known
from diprl.export.guard import PLAIN, Guard
from diprl.export.parity import Check, ExportReport, Samples, Written, draw
from diprl.export.structure import matching
from diprl.program import Program
from diprl.program.networks import Network
from diprl.system.files import check_writable, write_whole

TARGETS: dict[str, str] = tomllib.loads(Path(__file__).with_name("targets.toml").read_text(encoding="utf-8"))
"""What each target gives; the module of the same name in this package makes it."""


def export(
    program: Program,
    target: str,
    folder: str | Path,
    primitives: Sequence[Network] | None = None,
    samples: Samples | None = None,
    replace: bool = True,
    guard: Guard = PLAIN,
) -> ExportReport:
    """Write a program in another language and compare what was written with the interpreter.

    Programs that blend primitives take their networks along where the target can run them. Without `replace`, a file
    that is there already and says something else is left alone. `guard` says what controllers check their input for.
    """
    check_known("export target", TARGETS, target)
    module = import_module(f"diprl.export.{target}")
    networks = matching(program, primitives)
    samples = samples or draw(program, networks=networks)
    files = write_files(module.render(program, networks, guard), folder, replace)
    checks = module.check(Written(program, files, samples, networks, guard))
    return ExportReport(target, tuple(files), tuple(checks), samples.description)


def write_files(contents: Mapping[str, str | bytes], folder: str | Path, replace: bool = True) -> list[Path]:
    """Write what a target rendered, and say where."""
    texts = {name: text.encode() if isinstance(text, str) else text for name, text in contents.items()}
    files = {Path(folder) / name: content for name, content in texts.items()}
    for path, content in files.items():
        if not replace and path.exists() and path.read_bytes() != content:
            raise DiprlError(f"{path} is there already: write elsewhere, or replace it with --force")
    check_writable(Path(folder))
    for path, content in files.items():
        write_whole(path, content)
    return list(files)


__all__ = ["TARGETS", "Check", "ExportReport", "Network", "Samples", "Written", "draw", "export", "write_files"]

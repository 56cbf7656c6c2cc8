"""Programs in other languages, each checked against the interpreter as it is written.

>>> sorted(TARGETS)
['c', 'json', 'latex', 'onnx', 'python', 'st', 'svg']
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from diprl.errors import unknown
from diprl.export.networks import Network, matching
from diprl.export.report import Check, ExportReport
from diprl.export.samples import Samples, draw
from diprl.program import Program

TARGETS = {
    "python": "one Python file without dependencies",
    "c": "C99 header and source, in double and single precision",
    "json": "the program as JSON",
    "latex": "a formula for papers",
    "svg": "a drawing of the tree",
    "st": "an IEC 61131-3 function block in Structured Text",
    "onnx": "an ONNX graph in double precision",
}
"""What each target gives; the module of the same name in this package makes it."""


def export(
    program: Program,
    target: str,
    folder: str | Path,
    primitives: Sequence[Network] | None = None,
    samples: Samples | None = None,
) -> ExportReport:
    """Write a program in another language and compare what was written with the interpreter.

    Programs that blend primitives take their networks along where the target can run them.
    """
    if target not in TARGETS:
        raise unknown("export target", target, TARGETS)
    module = import_module(f"diprl.export.{target}")
    networks = matching(program, primitives)
    samples = samples or draw(program, networks=networks)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = [_write(folder / name, content) for name, content in module.render(program, networks).items()]
    checks = module.check(program, files, samples, networks)
    return ExportReport(target, tuple(files), tuple(checks), samples.description)


def _write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


__all__ = ["TARGETS", "Check", "ExportReport", "Network", "Samples", "draw", "export"]

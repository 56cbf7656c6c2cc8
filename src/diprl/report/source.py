"""What the page knows about a run. Only this module knows the file names and the JSON fields of a run folder.

A run folder may come from anybody. Where a number should be, charts leave out anything else; all other values
become text, which the page escapes.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.runs.folder import CONFIG, METRICS_JSONL, load_program, read_result, read_spec
from diprl.runs.observers import read_rows
from diprl.runs.result import Result
from diprl.runs.spec import RunSpec
from diprl.system.files import read_json

VERIFICATION = "verification.json"
"""Where a run folder keeps what `diprl verify --json` printed."""

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Source:
    """A program with what is known of its training; a bare program file knows nothing of it."""

    path: Path
    program: Program
    spec: RunSpec | None = None
    result: Result | None = None
    siblings: Sequence[Result] = ()
    """Results of the same experiment with other seeds, by seed."""
    metrics: Sequence[Json] = ()
    """What was measured at each report of the training."""
    verification: Json | None = None

    @property
    def name(self) -> str:
        return self.program.task or self.path.stem


def read_source(path: Path) -> Source:
    """Read a run folder, or a program file."""
    if not path.is_dir():
        return Source(path, load_program(path))
    spec = read_spec(path) if (path / CONFIG).exists() else None
    verification = path / VERIFICATION
    return Source(
        path,
        load_program(path),
        spec,
        read_result(path),
        sorted(_siblings(path, spec), key=lambda sibling: sibling.spec.seed) if spec else (),
        read_rows(path / METRICS_JSONL),
        read_json(verification) if verification.exists() else None,
    )


def _siblings(path: Path, spec: RunSpec) -> Iterator[Result]:
    """Finished runs next to this one that differ in nothing but the seed; one that is damaged is left out."""
    for other in path.resolve().parent.iterdir():
        with suppress(DiprlError, OSError):
            result = read_result(other)
            if result and result.spec.seed != spec.seed and replace(result.spec, seed=spec.seed) == spec:
                yield result

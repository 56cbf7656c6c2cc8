"""What a run folder says about itself, read once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.runs.folder import CONFIG, METRICS_JSONL, PROGRAM_JSON, RESULT, load_program
from diprl.runs.observers import read_rows
from diprl.system.files import read_json

VERIFICATION = "verification.json"
"""Where a run folder keeps what `diprl verify --json` printed."""
SAME = ("task", "method", "preset", "env_kwargs", "settings")
"""What runs must share to be the same experiment with other seeds."""

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Source:
    """A program with what is known of its making; a bare program file knows nothing of it."""

    path: Path
    program: Program
    header: Facts = field(default_factory=dict)
    result: Facts = field(default_factory=dict)
    metrics: Sequence[Facts] = ()
    siblings: Sequence[Facts] = ()
    """Results of the same experiment with other seeds, by seed."""
    verification: Facts | None = None

    @property
    def name(self) -> str:
        return self.program.task or self.path.stem


def read_source(path: Path) -> Source:
    """A run folder, or a program file."""
    if not path.is_dir():
        return Source(path, load_program(path))
    header, result = _optional(path / CONFIG), _optional(path / RESULT)
    if not (path / PROGRAM_JSON).exists():
        learnt = f"the method {header['method']} may learn none" if "method" in header else "is it a run?"
        raise DiprlError(f"{path} holds no program to report on ({learnt})")
    return Source(
        path,
        load_program(path),
        header,
        result,
        read_rows(path / METRICS_JSONL),
        sorted(_siblings(path, header), key=lambda sibling: sibling["seed"]) if header else (),
        _optional(path / VERIFICATION) or None,
    )


def _siblings(path: Path, header: Facts) -> Iterator[Facts]:
    """Finished runs next to this one that differ in nothing but the seed."""
    for other in path.resolve().parent.iterdir():
        if other == path.resolve() or not (other / RESULT).exists():
            continue
        about = _optional(other / CONFIG)
        same = all(about.get(name) == header.get(name) for name in SAME)
        if same and about.get("seed") != header.get("seed"):
            yield _optional(other / RESULT)


def _optional(path: Path) -> dict[str, Any]:
    return read_json(path) if path.exists() else {}

"""What the page knows about a run. Only this module knows the file names and the JSON fields of a run folder.

A run folder may come from anybody. Where a number should be, anything else is refused here; all other values
become text, which the page escapes.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.report.draw import Points
from diprl.runs.folder import CONFIG, METRICS_JSONL, load_program, read_result, read_spec
from diprl.runs.observers import read_rows
from diprl.runs.result import Result
from diprl.runs.spec import RunSpec
from diprl.system.files import is_number, read_json

VERIFICATION = "verification.json"
"""Where a run folder keeps what `diprl verify --json` printed."""
LARGEST = 1e100
"""A number of this size is not one of ours, and a chart of it would overflow."""
CURVES = ("rollout/ep_rew_mean", "eval/relaxed", "eval/program", "train/architecture_entropy", "train/alpha")
"""The columns of the metrics that become curves, in the order of the fields of `Curves`."""

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Curves:
    """What was measured over environment steps: metrics.jsonl. A curve that was not measured is empty."""

    training: Points = ()
    relaxed: Points = ()
    program: Points = ()
    entropy: Points = ()
    alpha: Points = ()
    depths: Sequence[tuple[float, Sequence[float]]] = ()
    """The probabilities of depth 1, 2, …"""


@dataclass(frozen=True)
class Source:
    """A program with what is known of its training; a bare program file knows nothing of it."""

    path: Path
    program: Program
    spec: RunSpec | None = None
    result: Result | None = None
    siblings: Sequence[Result] = ()
    """Results of the same experiment with other seeds, by seed."""
    curves: Curves = field(default_factory=Curves)
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
        _curves(read_rows(path / METRICS_JSONL)),
        read_json(verification) if verification.exists() else None,
    )


def _siblings(path: Path, spec: RunSpec) -> Iterator[Result]:
    """Finished runs next to this one that differ in nothing but the seed; one that is damaged is left out."""
    for other in path.resolve().parent.iterdir():
        with suppress(DiprlError, OSError):
            result = read_result(other)
            if result and result.spec.seed != spec.seed and replace(result.spec, seed=spec.seed) == spec:
                yield result


def _curves(rows: Sequence[Json]) -> Curves:
    def measured(*names: str) -> list[Any]:
        table = (tuple(row.get(name) for name in ("time/total_timesteps", *names)) for row in rows)
        return [numbers for numbers in table if all(is_number(each) and abs(each) < LARGEST for each in numbers)]

    names = (f"train/prog_depth_{depth}_prob" for depth in count(1))
    depths = list(takewhile(lambda name: any(name in row for row in rows), names))
    shares = [(steps, shares) for steps, *shares in measured(*depths)] if depths else []
    return Curves(*map(measured, CURVES), depths=shares)

"""What the page knows about a run. Only this module knows the file names and the JSON fields of a run folder.

A run folder may come from anybody. Where a number should be, anything else is refused here; all other values
become text, which the page escapes.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from diprl import runs
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.report.draw import Points
from diprl.train.observers import read_rows
from diprl.train.score import Score

VERIFICATION = "verification.json"
"""Where a run folder keeps what `diprl verify --json` printed."""
SAME = ("task", "method", "preset", "env_kwargs", "settings")
"""What runs must share to be the same experiment with other seeds."""
LARGEST = 1e100
"""A number of this size is not one of ours, and a chart of it would overflow."""
CURVES = ("rollout/ep_rew_mean", "eval/relaxed", "eval/program", "train/architecture_entropy", "train/alpha")
"""The columns of the metrics that become curves, in the order of the fields of `Curves`."""
LOSSES = ("architecture", "condition", "terminal", "total")
SIZES = ("depth", "conditions", "coefficients", "score", "gap")
MALFORMED = (KeyError, TypeError, ValueError, AttributeError)

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Spec:
    """How the run was started: config.json."""

    method: str
    preset: str
    settings: Mapping[str, str]
    versions: Mapping[str, str]
    command: str


@dataclass(frozen=True)
class Gap:
    """The score of the relaxed policy, and what was lost at each step from there to the program."""

    relaxed: float
    architecture: float
    condition: float
    terminal: float
    total: float


@dataclass(frozen=True)
class Result:
    """What came out: result.json."""

    seed: int
    score: Score
    steps: int
    wall_seconds: float
    gap: Gap | None
    depths: Sequence[Mapping[str, float]]
    """The program that training offered at each depth: its size, its score, and whether it was picked."""


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
    spec: Spec | None = None
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
        return Source(path, runs.load_program(path))
    config, result = _optional(path / runs.CONFIG), _optional(path / runs.RESULT)
    if not (path / runs.PROGRAM_JSON).exists():
        learnt = f"the method {config['method']} may learn none" if "method" in config else "is it a run?"
        raise DiprlError(f"{path} holds no program to report on ({learnt})")
    program, verification = runs.load_program(path), _optional(path / VERIFICATION)
    try:
        return Source(
            path,
            program,
            _spec(config) if config else None,
            _result(result) if result else None,
            sorted(_siblings(path, config), key=lambda sibling: sibling.seed) if config else (),
            _curves(read_rows(path / runs.METRICS_JSONL)),
            verification or None,
        )
    except MALFORMED as error:
        reason = f"its config, result or metrics are not those of a run ({error!r:.200})"
        raise DiprlError(f"{path}: {reason}") from error


def _siblings(path: Path, config: Json) -> Iterator[Result]:
    """Finished runs next to this one that differ in nothing but the seed; one that is damaged is left out."""
    for other in path.resolve().parent.iterdir():
        with suppress(DiprlError, OSError, *MALFORMED):
            about = _optional(other / runs.CONFIG)
            same = all(about.get(name) == config.get(name) for name in SAME)
            if same and about.get("seed") != config.get("seed"):
                yield _result(_optional(other / runs.RESULT))


def _spec(config: Json) -> Spec:
    environment = {f"env: {name}": value for name, value in config["env_kwargs"].items()}
    settings = {name: str(value) for name, value in (config["settings"] | environment).items()}
    versions = {name: str(value) for name, value in config["versions"].items()}
    command = shlex.join(config.get("command", ()))
    return Spec(str(config["method"]), str(config["preset"]), settings, versions, command)


def _result(result: Json) -> Result:
    score, gap, depths = result["score"], result.get("gap"), result.get("depths") or ()
    first, *others = map(_number, result["returns"])
    extra = {name: _number(score[name]) for name in ("is_success", "distance") if name in score}
    return Result(
        _number(result["seed"]),
        Score((first, *others), extra),
        _number(result["steps"]),
        _number(result["wall_seconds"]),
        Gap(_number(result["relaxed_score"]), *(_number(gap[name]) for name in LOSSES)) if gap else None,
        [{name: _number(row[name]) for name in SIZES} | {"picked": bool(row["picked"])} for row in depths],
    )


def _curves(rows: Sequence[Json]) -> Curves:
    def measured(*names: str) -> list[Any]:
        table = (tuple(row.get(name) for name in ("time/total_timesteps", *names)) for row in rows)
        return [numbers for numbers in table if all(map(_is_number, numbers))]

    names = (f"train/prog_depth_{depth}_prob" for depth in count(1))
    depths = list(takewhile(lambda name: any(name in row for row in rows), names))
    shares = [(steps, shares) for steps, *shares in measured(*depths)] if depths else []
    return Curves(*map(measured, CURVES), depths=shares)


def _number(value: Any) -> Any:
    if not _is_number(value):
        raise ValueError(f"{value!r:.40} is not a number")
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST


def _optional(path: Path) -> dict[str, Any]:
    return runs.read_json(path) if path.exists() else {}

"""Who watches a run: what they see, those that write it down, and ready-made ones for `learn(callback=…)`."""

import csv
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np

from diprl.arena.reference import evaluate_program
from diprl.errors import optional
from diprl.program import Program
from diprl.system.files import append_line, is_number, read_bytes, write_text
from diprl.tasks.base import Task

Row = dict[str, float | None]
"""Figures by name; None for one that is not finite, which JSON cannot say."""
LARGEST_LOG = 10_000_000
"""Bytes of a metrics file that are read at all."""
STEPS = "time/total_timesteps"
CURVE_POINTS = 50
CURVE_METRICS = (
    "eval/relaxed",
    "eval/program",
    "eval/distance",
    "rollout/ep_rew_mean",
    "train/architecture_entropy",
    "train/alpha",
)


@dataclass(frozen=True)
class Snapshot:
    """A run at one moment: how far it is, its figures, and its program if it were stopped now."""

    task: Task
    method: str
    seed: int
    steps: int
    total_steps: int
    seconds: float
    metrics: dict[str, float]
    """Everything measured since the last snapshot, by the names that Stable-Baselines3 uses."""
    program: Program | None
    save: Callable[[Path], None]
    """Writes a checkpoint that `load` opens and from which training can go on."""

    @property
    def fraction(self) -> float:
        return self.steps / self.total_steps


Observer = Callable[[Snapshot], bool | None]
"""Called with each snapshot; returning True stops the run after it."""


class MetricsLog:
    """A row per snapshot, in memory and, with a folder, in `metrics.csv` and `metrics.jsonl`."""

    def __init__(self, folder: Path | None = None, from_step: int = 0) -> None:
        """Rows of an interrupted run stay up to the step where its checkpoint stands."""
        self.folder, self.rows = folder, []
        if folder is None:
            return
        self.csv, self.jsonl = folder / "metrics.csv", folder / "metrics.jsonl"
        self.rows: list[Row] = [row for row in read_rows(self.jsonl) if (row.get(STEPS) or 0) <= from_step]
        write_text(self.jsonl, "".join(json.dumps(row) + "\n" for row in self.rows))
        write_text(self.csv, self.table(self.rows, header=bool(self.rows)))

    def __call__(self, snapshot: Snapshot) -> None:
        row: Row = {name: value if math.isfinite(value) else None for name, value in sorted(snapshot.metrics.items())}
        self.rows.append(row)
        if self.folder is not None:
            append_line(self.jsonl, json.dumps(row) + "\n")
            append_line(self.csv, self.table([row], header=len(self.rows) == 1))

    def table(self, rows: list[Row], header: bool) -> str:
        """Rows as CSV, with the columns of the first one."""
        text = StringIO(newline="")
        writer = csv.DictWriter(text, list(self.rows[0]) if self.rows else [], extrasaction="ignore")
        if header:
            writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()


def read_rows(path: Path) -> list[Row]:
    """Complete rows of a metrics file; from a line on that a crash cut short, or that is no row, all is left out."""
    rows: list[Row] = []
    if not path.exists():
        return rows
    for line in read_bytes(path, LARGEST_LOG).splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            break
        if not isinstance(row, dict) or not all(value is None or is_number(value) for value in row.values()):
            break
        rows.append(row)
    return rows


@dataclass(frozen=True)
class ProgramFile:
    """The program as it stands at each snapshot, so that an unfinished run has one too."""

    path: Path

    def __call__(self, snapshot: Snapshot) -> None:
        if snapshot.program is not None:
            stand = f"# unfinished: after {snapshot.steps:,} of {snapshot.total_steps:,} steps"
            write_text(self.path, f"{snapshot.program}{stand}\n")


@dataclass(frozen=True)
class StopAtScore:
    """A callback that ends the training once the program's validation score reaches a threshold.

    `model.learn(1e6, callback=StopAtScore(480))`
    """

    score: float
    metric: str = "eval/program"
    """Which figure to look at, as `metrics.csv` names them."""

    def __call__(self, snapshot: Snapshot) -> bool:
        return snapshot.metrics.get(self.metric, float("-inf")) >= self.score


@dataclass
class EvalCallback:
    """A callback that scores the current program on the environment itself from time to time and keeps the best."""

    every: int = 100_000
    """Environment steps between two scores."""
    episodes: int = 10
    """Episodes of each score."""
    best_path: Path | None = None
    """Where the best program is saved; None keeps its score only."""
    best_score: float = float("-inf")
    last: int = 0

    def __call__(self, snapshot: Snapshot) -> None:
        if snapshot.program is None or snapshot.steps - self.last < self.every:
            return
        self.last = snapshot.steps
        score = evaluate_program(snapshot.task, snapshot.program, self.episodes).mean
        if score > self.best_score:
            self.best_score = score
            if self.best_path is not None:
                snapshot.program.save(self.best_path)


@dataclass
class CheckpointCallback:
    """A callback that keeps a checkpoint from time to time; `DiPRL.load` opens each of them."""

    folder: Path
    every: int = 100_000
    last: int = 0

    def __call__(self, snapshot: Snapshot) -> None:
        if snapshot.steps - self.last >= self.every:
            self.last = snapshot.steps
            Path(self.folder).mkdir(parents=True, exist_ok=True)
            snapshot.save(Path(self.folder) / f"step-{snapshot.steps}.checkpoint")


class TensorBoardLog:
    """The same figures for TensorBoard."""

    def __init__(self, folder: Path) -> None:
        lacking = "TensorBoard logs need an extra: pip install 'diprl[tensorboard]'"
        self.writer = optional("tensorboardX", lacking).SummaryWriter(str(folder))

    def __call__(self, snapshot: Snapshot) -> None:
        for name, value in snapshot.metrics.items():
            self.writer.add_scalar(name, value, snapshot.steps)
        self.writer.flush()


def thinned_curve(rows: Sequence[Mapping[str, float | None]]) -> dict[str, list[float | None]]:
    """About fifty points of the metrics that figures show, by step; of several rows for one step the last counts."""
    by_step = {int(row[STEPS] or 0): row for row in rows}
    steps = sorted(by_step)
    kept = [steps[index] for index in spread(len(steps), CURVE_POINTS)]
    names = [name for name in CURVE_METRICS if any(by_step[step].get(name) is not None for step in kept)]
    curve: dict[str, list[float | None]] = {"steps": [float(step) for step in kept]}
    return curve | {name: [shortened(by_step[step].get(name)) for step in kept] for name in names}


def spread(count: int, points: int) -> list[int]:
    """Indices of at most so many evenly spaced entries, the last among them.

    >>> spread(7, 3)
    [0, 3, 6]
    """
    return np.unique(np.linspace(0, count - 1, min(count, points)).round().astype(int)).tolist()


def shortened(value: float | None) -> float | None:
    """Six significant digits are plenty for a curve."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")

"""Observers that write: metrics as CSV and JSON lines, TensorBoard, and the current program."""

import csv
import json
import math
from pathlib import Path

from diprl.errors import DiprlError
from diprl.train.snapshot import Snapshot

Row = dict[str, float | None]
"""Figures by name; None for one that is not finite, which JSON cannot say."""


class MetricsLog:
    """A row per snapshot in `metrics.csv` and `metrics.jsonl`; a resumed run continues where its checkpoint stands."""

    def __init__(self, folder: Path, from_step: int = 0) -> None:
        self.csv, self.jsonl = folder / "metrics.csv", folder / "metrics.jsonl"
        self.rows = [row for row in read_rows(self.jsonl) if (row["time/total_timesteps"] or 0) <= from_step]
        write_whole(self.jsonl, "".join(json.dumps(row) + "\n" for row in self.rows))
        self.columns = list(self.rows[0]) if self.rows else []
        self.write_table()

    def __call__(self, snapshot: Snapshot) -> None:
        row: Row = {
            name: value if math.isfinite(value) else None for name, value in sorted(snapshot.metrics.items())
        }
        self.rows.append(row)
        with open(self.jsonl, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        self.columns = self.columns or list(row)
        with open(self.csv, "a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, self.columns, extrasaction="ignore")
            if len(self.rows) == 1:
                writer.writeheader()
            writer.writerow(row)

    def write_table(self) -> None:
        with open(self.csv, "w", encoding="utf-8", newline="") as file:
            if self.rows:
                writer = csv.DictWriter(file, self.columns, extrasaction="ignore")
                writer.writeheader()
                writer.writerows(self.rows)


def write_whole(path: Path, text: str) -> None:
    """Replace a file at once, so that a crash leaves either the old rows or the new."""
    temporary = path.with_name(path.name + ".partial")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def read_rows(path: Path) -> list[Row]:
    """Complete rows of a metrics file; a line that a crash cut short is left out."""
    rows = []
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                rows.append(json.loads(line))
            except ValueError:
                break
    return rows


class TensorBoardLog:
    """The same figures for TensorBoard."""

    def __init__(self, folder: Path) -> None:
        try:
            from tensorboardX import SummaryWriter
        except ImportError as error:
            raise DiprlError("TensorBoard logs need an extra: pip install 'diprl[tensorboard]'") from error
        self.writer = SummaryWriter(str(folder))

    def __call__(self, snapshot: Snapshot) -> None:
        for name, value in snapshot.metrics.items():
            self.writer.add_scalar(name, value, snapshot.steps)
        self.writer.flush()

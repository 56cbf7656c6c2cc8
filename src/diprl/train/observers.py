"""Observers that write: metrics as CSV and JSON lines, TensorBoard, and the current program."""

import csv
import json
import math
from io import StringIO
from pathlib import Path
from typing import Any

from diprl.errors import DiprlError
from diprl.system.files import append_line, write_whole
from diprl.train.snapshot import Snapshot

Row = dict[str, float | None]
"""Figures by name; None for one that is not finite, which JSON cannot say."""
LARGEST_LOG = 100_000_000
"""Bytes of a metrics file that are read at all."""


class MetricsLog:
    """A row per snapshot in `metrics.csv` and `metrics.jsonl`; a resumed run continues where its checkpoint stands."""

    def __init__(self, folder: Path, from_step: int = 0) -> None:
        self.csv, self.jsonl = folder / "metrics.csv", folder / "metrics.jsonl"
        self.rows = [row for row in read_rows(self.jsonl) if steps_of(row) <= from_step]
        write_whole(self.jsonl, "".join(json.dumps(row) + "\n" for row in self.rows).encode())
        self.columns = list(self.rows[0]) if self.rows else []
        write_whole(self.csv, self.table(self.rows, header=bool(self.rows)).encode())

    def __call__(self, snapshot: Snapshot) -> None:
        row: Row = {
            name: value if math.isfinite(value) else None for name, value in sorted(snapshot.metrics.items())
        }
        self.rows.append(row)
        self.columns = self.columns or list(row)
        append_line(self.jsonl, json.dumps(row) + "\n")
        append_line(self.csv, self.table([row], header=len(self.rows) == 1))

    def table(self, rows: list[Row], header: bool) -> str:
        """Rows as CSV."""
        text = StringIO(newline="")
        writer = csv.DictWriter(text, self.columns, extrasaction="ignore")
        if header:
            writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()


def read_rows(path: Path) -> list[Row]:
    """Complete rows of a metrics file; from a line on that a crash cut short, or that is no row, all is left out."""
    rows: list[Row] = []
    if not path.exists():
        return rows
    with open(path, "rb") as file:
        content = file.read(LARGEST_LOG)
    for line in content.splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            break
        if not isinstance(row, dict) or not all(map(is_figure, row.values())):
            break
        rows.append(row)
    return rows


def is_figure(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def steps_of(row: Row) -> float:
    return row.get("time/total_timesteps") or 0


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

"""Which lines the paper's tables have, and where each takes its numbers from: our records and the paper.

The tables are data in `tables.toml`, the paper's means and deviations over three seeds in `paper_results.json`.
"""

import json
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from diprl.experiment.results import MEASURES, Measure
from diprl.experiment.suites import DISCRETE

PAPER: dict[str, Any] = json.loads(Path(__file__).with_name("paper_results.json").read_text(encoding="utf-8"))
PAPER_NAMES = {"LunarLander-v3": "LunarLander-v2"}
"""Tasks that the paper knows under another name."""


class Line(NamedTuple):
    """One row of a table: a measure of the runs of a method, and the paper's row for it."""

    label: str
    method: str
    measure: Measure
    paper: tuple[str, ...]
    """Path in the paper's results; empty where the paper has no such row."""
    variant: str

    def published(self, task: str) -> tuple[float, float] | None:
        """The paper's mean and deviation for a task, or None where it has none.

        >>> TABLES["discrete"][0].lines[-1].published("LunarLander-v3")
        (260.21, 13.61)
        """
        place: Any = PAPER if self.paper else {}
        for name in (*self.paper, PAPER_NAMES.get(task, task)):
            place = place.get(name, {})
        return (place[0], place[1]) if place else None


class PaperTable(NamedTuple):
    """A table before its numbers."""

    name: str
    title: str
    lines: tuple[Line, ...]
    digits: int = 2
    first_column: str = "method"


def read_line(label: str, method: str, measure: str, paper: str = "", variant: str = "") -> Line:
    return Line(label, method, MEASURES[measure], tuple(paper.split("/")) if paper else (), variant)


def read_tables() -> dict[str, tuple[PaperTable, ...]]:
    """The tables of each experiment."""
    content = tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))
    tables = {
        key: PaperTable(**table | {"lines": tuple(read_line(*line) for line in table["lines"])})
        for key, table in content["tables"].items()
    }
    return {suite: tuple(tables[key] for key in keys) for suite, keys in content["experiments"].items()}


TABLES = read_tables()


def published_range(task: str) -> tuple[float, float]:
    """The lowest and the highest mean return of any method in the paper, by which returns are normalised."""
    table = PAPER["discrete_reward" if task in DISCRETE else "continuous_reward"]
    means = [row[PAPER_NAMES.get(task, task)][0] for row in table.values()]
    return min(means), max(means)

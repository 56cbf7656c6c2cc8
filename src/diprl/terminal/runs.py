"""Tables of runs: what lies in a folder, and how several compare."""

from collections.abc import Sequence
from typing import Any

from diprl.terminal.layout import Column, print_table, say

RUNS = [
    Column("run", below=True, left=True),
    Column("task", left=True),
    Column("method", left=True),
    Column("seed"),
    Column("score"),
    Column("conditions"),
    Column("numbers"),
    Column("state", left=True),
]
COMPARED = [
    Column("", left=True),
    Column("score"),
    Column("difference"),
    Column("95% interval"),
    Column("conditions"),
    Column("numbers"),
    Column("alike"),
    Column("program", below=True, left=True),
]


def cell(value: Any) -> str:
    """A value of a table; empty where there is none."""
    return "" if value is None else str(value)


def score_text(score: float | None) -> str:
    return "" if score is None else f"{score:.2f}"


def print_runs(runs: Sequence[dict[str, Any]]) -> None:
    """One row per run; those that are not finished say what to do below the table."""
    rows = []
    for run in runs:
        score = score_text(run["score"] and run["score"]["mean"])
        sizes = [run["conditions"], run["numbers"]]
        facts = [run["folder"], run["task"], run["method"], run["seed"], score, *sizes, run["state"]]
        rows.append([cell(each) for each in facts])
    print_table(RUNS, rows)
    notes = [f"{run['folder']}: {run['state']}, {run['note']}" for run in runs if run["note"]]
    say("\n".join(["", *notes]) if notes else "")


def print_compared(rows: Sequence[dict[str, Any]]) -> None:
    """Programs beside the first of them, each under its number."""
    cells = []
    for number, row in enumerate(rows, 1):
        gain = row["gain"]
        paired = [f"{gain['mean']:+.2f}", "{:+.2f} to {:+.2f}".format(*gain["ci95"])] if gain else ["", ""]
        alike = f"{row['alike']:.1%}" if gain else ""
        facts = [number, f"{row['score']['mean']:.2f}", *paired, row["conditions"], row["numbers"], alike, row["path"]]
        cells.append([cell(each) for each in facts])
    print_table(COMPARED, cells)

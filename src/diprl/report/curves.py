"""How training went, from the metrics of a run."""

import re
from collections.abc import Sequence

from diprl.report.draw import Chart, Series, area_chart, line_chart
from diprl.report.source import Facts

STEPS = "time/total_timesteps"
DEPTH = re.compile(r"train/prog_depth_(\d+)_prob")


def training_charts(metrics: Sequence[Facts]) -> list[Chart]:
    """Return, gap, depths, entropy and α, each where it was measured."""
    if not metrics:
        return []
    return [
        chart
        for chart in (returns(metrics), gap(metrics), depths(metrics), entropy(metrics), alpha(metrics))
        if chart is not None
    ]


def returns(metrics: Sequence[Facts]) -> Chart | None:
    series = [
        Series("while training", column(metrics, "rollout/ep_rew_mean"), "s3"),
        Series("relaxed policy", column(metrics, "eval/relaxed"), "s2"),
        Series("program", column(metrics, "eval/program"), "s1"),
    ]
    return line_chart("Return", series) if any(line.points for line in series) else None


def gap(metrics: Sequence[Facts]) -> Chart | None:
    """What would be lost by taking the program out at each moment."""
    points = [
        (row[STEPS], row["eval/relaxed"] - row["eval/program"])
        for row in metrics
        if row.get("eval/relaxed") is not None and row.get("eval/program") is not None
    ]
    if not points:
        return None
    note = "Above zero, the relaxed policy is better than the program inside it."
    return line_chart("Gap: relaxed − program", [Series("gap", points, "s4")], note=note, baseline=0.0)


def depths(metrics: Sequence[Facts]) -> Chart | None:
    """The probability of each depth of the program."""
    names = sorted(
        (name for name in metrics[0] if DEPTH.fullmatch(name)), key=lambda name: int(DEPTH.findall(name)[0])
    )
    rows = [(row[STEPS], [row[name] for name in names]) for row in metrics if _complete(row, names)]
    if not names or not rows:
        return None
    return area_chart("Depth of the program", [DEPTH.findall(name)[0] for name in names], rows)


def entropy(metrics: Sequence[Facts]) -> Chart | None:
    points = column(metrics, "train/architecture_entropy")
    series = [Series("architecture entropy", points, "s5")]
    note = "1: every depth is as likely as any other; 0: the depth is settled."
    return line_chart("Architecture entropy", series, span=(-0.02, 1.05), note=note) if points else None


def alpha(metrics: Sequence[Facts]) -> Chart | None:
    points = column(metrics, "train/alpha")
    if not points:
        return None
    constant = len({value for _, value in points}) == 1
    note = f"It stayed at {points[0][1]:g} throughout." if constant else ""
    return line_chart("α, the weight of the entropy penalty", [Series("α", points, "s6")], note=note)


def column(metrics: Sequence[Facts], name: str) -> list[tuple[float, float]]:
    """One metric over steps, where it was measured and finite."""
    return [(row[STEPS], row[name]) for row in metrics if row.get(name) is not None]


def _complete(row: Facts, names: Sequence[str]) -> bool:
    return all(row.get(name) is not None for name in names)

"""What a run scored: its episodes, its seeds, and what turning the policy into a program cost."""

from collections.abc import Sequence
from html import escape

from diprl.report.draw import Chart, Scale, padded, short, svg, ticks
from diprl.report.source import Facts, Source

WIDTH, LEFT, RIGHT, ROW = 760, 118, 20, 34
GOLDEN = 0.618034
"""Steps of this size spread dots evenly, however many there are."""


def score_chart(source: Source, paper: float | None) -> Chart | None:
    """Every episode of the run, and the mean of each seed with its 95% interval."""
    if "score" not in source.result:
        return None
    returns = source.result.get("returns", ())
    runs = [source.result, *source.siblings]
    runs.sort(key=lambda run: run["seed"])
    extent = [*returns, *(end for run in runs for end in interval(run))]
    x = Scale(*padded(*_range([*extent, *([] if paper is None else [paper])])), LEFT, WIDTH - RIGHT)
    height = 78 + ROW * len(runs) + 34
    parts = vertical_axis(x, height - 34)
    parts += [f'<text class="label" x="0" y="40">{len(returns)} episodes</text>']
    parts += [
        dot(x(value), 36 + 44 * ((index * GOLDEN) % 1.0 - 0.5), "episode")
        for index, value in enumerate(returns)
    ]
    for index, run in enumerate(runs):
        parts += seed_row(run, x, 78 + ROW * index + ROW / 2, run is source.result)
    if paper is not None:
        parts.append(f'<path class="paper" d="M{x(paper):.1f} 4V{height - 34}"/>')
    legend = (("this run", "s1"), ("other seeds", "s3")) if len(runs) > 1 else ()
    note = "" if paper is None else f"The dashed line is the paper's DiPRL, {paper:g}."
    return Chart("", svg(parts, "Score", WIDTH, height), legend, note)


def seed_row(run: Facts, x: Scale, y: float, this: bool) -> list[str]:
    low, high = interval(run)
    style = "s1" if this else "s3"
    return [
        f'<text class="label" x="0" y="{y + 4:.1f}">seed {run["seed"]}, mean</text>',
        f'<path class="interval {style}" d="M{x(low):.1f} {y:.1f}H{x(high):.1f}"/>',
        dot(x(run["score"]["mean"]), y, f"mean {style}"),
    ]


def interval(run: Facts) -> tuple[float, float]:
    low, high = run["score"]["ci95"]
    return (low, high) if abs(low) != float("inf") else (run["score"]["mean"],) * 2


def gap_chart(result: Facts) -> Chart | None:
    """From the relaxed policy's score down to the program's, one step per source of loss."""
    gap = result.get("gap")
    if not gap or result.get("relaxed_score") is None:
        return None
    level = result["relaxed_score"]
    rows = [("relaxed policy", None, level)]
    for part, name in (
        ("architecture", "one depth"),
        ("condition", "hard conditions"),
        ("terminal", "one action"),
    ):
        rows.append((name, level, level - gap[part]))
        level -= gap[part]
    rows.append(("program", None, level))
    x = Scale(*padded(*_range([0.0, *(end for _, _, end in rows)])), LEFT, WIDTH - RIGHT - 60)
    parts = vertical_axis(x, ROW * len(rows) + 6)
    for index, row in enumerate(rows):
        parts += gap_row(*row, x, 6 + ROW * index + ROW / 2)
    return Chart("What hardening cost", svg(parts, "Gaps", WIDTH, ROW * len(rows) + 40))


def gap_row(name: str, before: float | None, after: float, x: Scale, y: float) -> list[str]:
    """A bar up to the score, or the piece by which a stage changed it."""
    left, right = sorted((x(before or 0.0), x(after)))
    style = "s1" if before is None else "bad" if after < before else "good" if after > before else "none"
    text = f"{after:.2f}" if before is None else f"{after - before:+.2f}" if after != before else "no loss"
    width = max(right - left, 1.5)
    return [
        f'<text class="label" x="0" y="{y + 4:.1f}">{escape(name)}</text>',
        f'<rect class="bar {style}" x="{left:.1f}" y="{y - 9:.1f}" width="{width:.1f}" height="18" rx="3"/>',
        f'<text class="value" x="{right + 7:.1f}" y="{y + 4:.1f}">{text.replace("-", "−")}</text>',
    ]


def vertical_axis(x: Scale, bottom: float) -> list[str]:
    parts = []
    for value in ticks(x.low, x.high, 6):
        parts.append(f'<path class="grid" d="M{x(value):.1f} 4V{bottom:.1f}"/>')
        parts.append(
            f'<text class="tick" x="{x(value):.1f}" y="{bottom + 16:.1f}" text-anchor="middle">{short(value)}</text>'
        )
    return parts


def dot(x: float, y: float, style: str) -> str:
    radius = 5 if style.startswith("mean") else 3
    return f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'


def _range(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)

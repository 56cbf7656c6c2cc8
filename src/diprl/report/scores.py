"""What a run scored: its episodes, its seeds, and what turning the policy into a program cost."""

from diprl.report.draw import Chart, Markup, Scale, element, label, padded, svg, x_axis
from diprl.report.source import Gap, Result, Source
from diprl.train.score import Score

WIDTH, MARGIN, ROW = 440, 16, 44
EPISODES = 72
"""Height of the part that shows every episode."""
GOLDEN = 0.618034
"""Steps of this size spread dots evenly, however many there are."""


def score_chart(source: Source, paper: float | None) -> Chart | None:
    """Every episode of the run, and the mean of each seed with its 95% interval."""
    if source.result is None:
        return None
    returns = source.result.score.returns
    results = sorted([source.result, *source.siblings], key=lambda result: result.seed)
    ends = [end for result in results for end in interval(result.score)]
    x = Scale(*padded([*returns, *ends, *([] if paper is None else [paper])]), MARGIN, WIDTH - MARGIN)
    bottom = EPISODES + ROW * len(results)
    parts = [*x_axis(x, bottom, "return"), label(f"{len(returns)} episodes", 0, 12, anchor="start")]
    for index, value in enumerate(returns):
        parts.append(dot(x(value), 44 + 40 * ((index * GOLDEN) % 1.0 - 0.5), 3, "episode"))
    for index, result in enumerate(results):
        style = "s1" if result is source.result else "s3"
        parts += seed_row(result, x, EPISODES + ROW * index + 30, style)
    if paper is not None:
        parts.append(element("path", class_="paper", d=f"M{x(paper):.1f} 20V{bottom}"))
    legend = (("this run", "s1"), ("other seeds", "s3")) if len(results) > 1 else ()
    note = "" if paper is None else f"The dashed line is the paper's DiPRL, {paper:g}."
    return Chart("", svg(parts, "Score", WIDTH, bottom + 38), legend, note)


def seed_row(result: Result, x: Scale, y: float, style: str) -> list[Markup]:
    low, high = map(x, interval(result.score))
    return [
        label(f"seed {result.seed}, mean", 0, y - 12, anchor="start"),
        element("path", class_=f"interval {style}", d=f"M{low:.1f} {y:.1f}H{high:.1f}"),
        dot(x(result.score.mean), y, 5, f"mean {style}"),
    ]


def interval(score: Score) -> tuple[float, float]:
    """The 95% interval of the mean; a single episode has none."""
    return score.ci95 if len(score.returns) > 1 else (score.mean, score.mean)


def dot(x: float, y: float, radius: float, style: str) -> Markup:
    return element("circle", class_=style, cx=x, cy=y, r=radius)


def gap_rows(gap: Gap) -> list[tuple[str, float, float]]:
    """Each step from the relaxed policy to the program: its name, the score after it, and what it lost."""
    rows = [("relaxed policy", gap.relaxed, 0.0)]
    losses = {"one depth": gap.architecture, "hard conditions": gap.condition, "one action": gap.terminal}
    for name, loss in losses.items():
        rows.append((name, rows[-1][1] - loss, loss))
    return rows

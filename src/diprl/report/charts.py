"""The charts of a run: what it scored, what turning the policy into a program cost, and how training went."""

from diprl.arena.score import Gap, Score
from diprl.report.draw import Chart, Markup, Scale, area_chart, element, label, line_chart, padded, svg, x_axis, y_axis
from diprl.report.source import Curves, Source
from diprl.search.front import Front

WIDTH, MARGIN, ROW = 440, 16, 44
FRONT_LEFT, FRONT_HEIGHT = 48, 220
EPISODES = 72
"""Height of the part that shows every episode."""
GOLDEN = 0.618034
"""Steps of this size spread dots evenly, however many there are."""


def score_chart(source: Source, paper: float | None) -> Chart | None:
    """Every episode of the run, and the mean of each seed with its 95% interval."""
    if source.result is None:
        return None
    returns = source.result.score.returns
    results = sorted([source.result, *source.siblings], key=lambda result: result.spec.seed)
    ends = [end for result in results for end in interval(result.score)]
    x = Scale(*padded([*returns, *ends, *([] if paper is None else [paper])]), MARGIN, WIDTH - MARGIN)
    bottom = EPISODES + ROW * len(results)
    parts = [*x_axis(x, bottom, "return"), label(f"{len(returns)} episodes", 0, 12, anchor="start")]
    for index, value in enumerate(returns):
        height = 44 + 40 * ((index * GOLDEN) % 1.0 - 0.5)
        parts.append(element("circle", class_="episode", cx=x(value), cy=height, r=3))
    for index, result in enumerate(results):
        y, (low, high) = EPISODES + ROW * index + 30, map(x, interval(result.score))
        style = "s1" if result is source.result else "s3"
        parts += [
            label(f"seed {result.spec.seed}, mean", 0, y - 12, anchor="start"),
            element("path", class_=f"interval {style}", d=f"M{low:.1f} {y}H{high:.1f}"),
            element("circle", class_=f"mean {style}", cx=x(result.score.mean), cy=y, r=5),
        ]
    if paper is not None:
        parts.append(element("path", class_="paper", d=f"M{x(paper):.1f} 20V{bottom}"))
    legend = (("this run", "s1"), ("other seeds", "s3")) if len(results) > 1 else ()
    note = "" if paper is None else f"The dashed line is the paper's DiPRL, {paper:g}."
    return Chart("", svg(parts, "Score", WIDTH, bottom + 38), legend, note)


def interval(score: Score) -> tuple[float, float]:
    """The 95% interval of the mean; a single episode has none."""
    return score.ci95 if len(score.returns) > 1 else (score.mean, score.mean)


def gap_rows(gap: Gap) -> list[tuple[str, float, float]]:
    """Each step from the relaxed policy to the program: its name, the score after it, and what it lost."""
    rows = [("relaxed policy", gap.relaxed, 0.0)]
    losses = {"one depth": gap.architecture, "hard conditions": gap.condition, "one action": gap.terminal}
    for name, loss in losses.items():
        rows.append((name, rows[-1][1] - loss, loss))
    return rows


def front_chart(front: Front) -> Markup:
    """Size against score of the programs of a run, each with its 95% interval; a ring around the one handed over."""
    x = Scale(0.0, max(entry.program.coefficients for entry in front) + 1.0, FRONT_LEFT, WIDTH - MARGIN)
    ends = [end for entry in front for end in entry.interval]
    y = Scale(*padded(ends), FRONT_HEIGHT, MARGIN)
    parts = [*x_axis(x, FRONT_HEIGHT, "numbers in the program"), *y_axis(y, x)]
    for index, entry in enumerate(front):
        place, (low, high) = x(entry.program.coefficients), map(y, entry.interval)
        parts.append(element("path", class_="interval s1", d=f"M{place:.1f} {low:.1f}V{high:.1f}"))
        parts.append(element("circle", class_="mean s1", cx=place, cy=y(entry.mean), r=4))
        if index == front.picked:
            parts.append(element("circle", class_="ring", cx=place, cy=y(entry.mean), r=9))
    return svg(parts, "Score of the program by size", WIDTH, FRONT_HEIGHT + 38)


def training_charts(curves: Curves) -> list[Chart]:
    """Return, gap, depths, entropy and α, each where it was measured."""
    returns = [
        ("while training", "s3", curves.training),
        ("relaxed policy", "s2", curves.relaxed),
        ("program", "s1", curves.program),
    ]
    programs = dict(curves.program)
    gap = [(step, value - programs[step]) for step, value in curves.relaxed if step in programs]
    weights = {value for _, value in curves.alpha}
    constant = f"It stayed at {min(weights):g} throughout." if len(weights) == 1 else ""
    better = "Above zero, the relaxed policy is better than the program inside it."
    settled = "1: every depth is as likely as any other; 0: the depth is settled."
    charts = (
        line_chart("Return", returns),
        line_chart("Gap: relaxed − program", [("gap", "s4", gap)], note=better, baseline=0.0),
        area_chart("Depth of the program", curves.depths),
        line_chart("Architecture entropy", [("entropy", "s5", curves.entropy)], (-0.02, 1.05), settled),
        line_chart("α, the weight of the entropy penalty", [("α", "s6", curves.alpha)], note=constant),
    )
    return [chart for chart in charts if chart is not None]

"""The charts of a run: what it scored, what turning the policy into a program cost, how training went, where it acts.

The regions of the plane follow every edit, so the page's script draws them (`assets/page/regions.js`).
"""

from collections.abc import Mapping, Sequence
from itertools import count, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.arena.score import Gap, Score
from diprl.program import Program
from diprl.report import draw
from diprl.report.draw import Chart, Markup, Scale, area_chart, element, label, line_chart, padded, svg, x_axis, y_axis
from diprl.report.episode import Visits
from diprl.report.source import Source
from diprl.runs.observers import STEPS
from diprl.system.files import is_number

WIDTH, MARGIN, ROW = 440, 16, 44
FRONT_LEFT, FRONT_HEIGHT = 48, 220
EPISODES = 72
"""Height of the part that shows every episode."""
PLANE = (560, 420)
FRAME = {"left": draw.LEFT + 26, "right": PLANE[0] - 12, "top": draw.TOP, "bottom": PLANE[1] - draw.BOTTOM - 6}
"""Where the plane lies on its drawing."""
DOTS = 600
STYLES = 6
LARGEST = 1e100
"""A number of this size is not one of ours, and a chart of it would overflow."""
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


def front_chart(sources: Sequence[Source]) -> Markup | None:
    """Size against score of the programs of runs, each with its 95% interval; a ring around those handed over."""
    fronts = [sized_scores(source) for source in sources]
    points = [point for front in fronts for point in front]
    if not points:
        return None
    x = Scale(0.0, max(numbers for numbers, *_ in points) + 1.0, FRONT_LEFT, WIDTH - MARGIN)
    y = Scale(*padded([end for _, _, ends, _ in points for end in ends]), FRONT_HEIGHT, MARGIN)
    parts = [*x_axis(x, FRONT_HEIGHT, "numbers in the program"), *y_axis(y, x)]
    for index, front in enumerate(fronts):
        style = style_of(index)
        parts.append(element("path", class_=f"line {style}", d=draw.path([point[:2] for point in front], x, y)))
        for numbers, mean, (low, high), picked in front:
            parts.append(element("path", class_=f"interval {style}", d=f"M{x(numbers):.1f} {y(low):.1f}V{y(high):.1f}"))
            parts.append(element("circle", class_=f"mean {style}", cx=x(numbers), cy=y(mean), r=4))
            parts += [element("circle", class_="ring", cx=x(numbers), cy=y(mean), r=9)] if picked else []
    return svg(parts, "Score of the program by size", WIDTH, FRONT_HEIGHT + 38)


def sized_scores(source: Source) -> list[tuple[float, float, tuple[float, float], bool]]:
    """Each program of a run: its numbers, mean, interval, and whether it was handed over."""
    if source.result is None:
        return []
    front, score = source.result.front, source.result.score
    if front is None:
        return [(source.program.coefficients, score.mean, interval(score), True)]
    entries = enumerate(front)
    return [(one.program.coefficients, one.mean, one.interval, index == front.picked) for index, one in entries]


def overview(sources: Sequence[Source]) -> dict[str, Any] | None:
    """A table of several runs and a chart of their programs."""
    scores = [each.result.score if each.result else None for each in sources]
    pairs = enumerate(zip(sources, scores, strict=True))
    rows = [(each.path.name, score, each.program, style_of(index)) for index, (each, score) in pairs]
    return {"rows": rows, "chart": front_chart(sources)} if len(sources) > 1 else None


def style_of(index: int) -> str:
    """The class in the style sheet that colours a run."""
    return f"s{index % STYLES + 1}"


def training_charts(rows: Sequence[Mapping[str, Any]]) -> list[Chart]:
    """Return, gap, depths, entropy and α, each where the metrics have it."""

    def measured(*names: str) -> list[Any]:
        table = (tuple(row.get(name) for name in (STEPS, *names)) for row in rows)
        return [numbers for numbers in table if all(is_number(each) and abs(each) < LARGEST for each in numbers)]

    relaxed, program, alpha = measured("eval/relaxed"), measured("eval/program"), measured("train/alpha")
    entropy = measured("train/architecture_entropy")
    returns = [
        ("while training", "s3", measured("rollout/ep_rew_mean")),
        ("relaxed policy", "s2", relaxed),
        ("program", "s1", program),
    ]
    programs = dict(program)
    gap = [(step, value - programs[step]) for step, value in relaxed if step in programs]
    names = (f"train/prog_depth_{depth}_prob" for depth in count(1))
    depths = list(takewhile(lambda name: any(name in row for row in rows), names))
    shares = [(steps, shares) for steps, *shares in measured(*depths)] if depths else []
    weights = {value for _, value in alpha}
    constant = f"It stayed at {min(weights):g} throughout." if len(weights) == 1 else ""
    better = "Above zero, the relaxed policy is better than the program inside it."
    settled = "1: every depth is as likely as any other; 0: the depth is settled."
    charts = (
        line_chart("Return", returns),
        line_chart("Gap: relaxed − program", [("gap", "s4", gap)], note=better, baseline=0.0),
        area_chart("Depth of the program", shares),
        line_chart("Architecture entropy", [("entropy", "s5", entropy)], (-0.02, 1.05), settled),
        line_chart("α, the weight of the entropy penalty", [("α", "s6", alpha)], note=constant),
    )
    return [chart for chart in charts if chart is not None]


def partition(program: Program, visits: Visits, chosen: Sequence[int]) -> Markup:
    """The plane of two features, or the line of one, with the states that were visited."""
    across, up = chosen[0], chosen[1] if len(chosen) > 1 else None
    x = Scale(*extent(program, visits, across), FRAME["left"], FRAME["right"])
    y = Scale(*((0.0, 1.0) if up is None else extent(program, visits, up)), FRAME["bottom"], FRAME["top"])
    parts = x_axis(x, y.start, feature_label(program, across))
    if up is None:
        parts += histogram(visits.features[:, across], x, y)
    else:
        parts += [dots(visits.features[:, [across, up]], x, y), *y_axis(y, x, feature_label(program, up))]
    return svg(parts, "Which branch acts where", *PLANE)


def dots(states: NDArray[np.float64], x: Scale, y: Scale) -> Markup:
    """Some of the visited states, as they lie in the plane."""
    some = states[:: max(1, len(states) // DOTS)]
    inside = some[np.all((some >= (x.low, y.low)) & (some <= (x.high, y.high)), axis=1)]
    places = "".join(f"M{x(across):.1f} {y(up):.1f}h0" for across, up in inside)
    return element("path", class_="visited", d=places)


def histogram(values: NDArray[np.float64], x: Scale, y: Scale, bins: int = 48) -> list[Markup]:
    """How often each value of a feature was visited."""
    counts, edges = np.histogram(values, bins, (x.low, x.high))
    heights = 0.9 * counts / max(counts.max(), 1)
    width = x(edges[1]) - x(edges[0])
    return [
        element("rect", class_="count", x=x(left), y=y(height), width=width, height=y(0.0) - y(height))
        for height, left in zip(heights, edges, strict=False)
        if height
    ]


def extent(program: Program, visits: Visits, index: int) -> tuple[float, float]:
    """A little more than what was visited, within the feature's bounds."""
    low, high = np.quantile(visits.features[:, index], (0.02, 0.98)).tolist()
    room = 0.4 * (high - low) or max(1.0, abs(low))
    feature = program.signature.features[index]
    return max(low - room, feature.low), min(high + room, feature.high)


def feature_label(program: Program, index: int) -> str:
    feature = program.signature.features[index]
    return f"{feature.name} [{feature.unit}]" if feature.unit else feature.name

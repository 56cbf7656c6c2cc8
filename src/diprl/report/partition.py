"""Where in the state space each branch acts, as exact polygons of a plane through it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from diprl.program import Condition, Node, Program
from diprl.program.evaluate import linear
from diprl.program.paths import descend
from diprl.report.draw import BOTTOM, LEFT, TOP, Chart, Scale, axes, svg
from diprl.report.listing import Branch
from diprl.report.observe import Visits

WIDTH, HEIGHT = 560, 420
DOTS = 600
Point = tuple[float, float]
Polygon = list[Point]
Line = tuple[float, float, float]
"""a, b, c of a·x + b·y + c."""


def partition_chart(
    program: Program, branches: Sequence[Branch], visits: Visits, chosen: Sequence[int]
) -> Chart:
    """The plane of two features, or the line of one, with every other feature at its median."""
    base = visits.medians()
    across, up = chosen[0], chosen[1] if len(chosen) > 1 else None
    x = Scale(*extent(program, visits, across), LEFT + 26, WIDTH - 12)
    y = (
        Scale(0.0, 1.0, HEIGHT - BOTTOM, TOP)
        if up is None
        else Scale(*extent(program, visits, up), HEIGHT - BOTTOM, TOP)
    )
    box = [(x.low, y.low), (x.high, y.low), (x.high, y.high), (x.low, y.high)]
    parts = []
    for number, region in regions(program.root, box, base, across, up):
        parts += region_shape(region, branches[number], x, y)
    if up is None:
        parts += histogram(visits.features[:, across], x, y)
        labels = axes(
            x, Scale(0.0, 1.0, HEIGHT - BOTTOM, HEIGHT - BOTTOM - 1e-6), feature_label(program, across)
        )
        parts += [
            label for label in labels if 'class="grid"' not in label and 'text-anchor="end"' not in label
        ]
    else:
        parts += dots(visits, across, up, x, y)
        parts += axes(x, y, feature_label(program, across), feature_label(program, up))
    return Chart("Who acts where", svg(parts, "Partition of the state space", WIDTH, HEIGHT))


def plane(program: Program, visits: Visits, chosen: Sequence[int]) -> dict[str, Any] | None:
    """Which plane the page cuts through the state of a step; None for a single feature."""
    if len(chosen) < 2:
        return None
    across, up = chosen
    return {
        "across": across,
        "up": up,
        "x": extent(program, visits, across),
        "y": extent(program, visits, up),
    }


def regions(
    root: Node, box: Polygon, base: Sequence[float], across: int, up: int | None
) -> Iterator[tuple[int, Polygon]]:
    """Every branch that acts somewhere in the box, with the convex polygon in which it does."""

    def split(condition: Condition, polygon: Polygon) -> tuple[Polygon, Polygon]:
        return halves(polygon, cut(condition, base, across, up))

    for number, (_, polygon) in enumerate(descend(root, box, split)):
        if len(polygon) > 2:
            yield number, polygon


def cut(condition: Condition, base: Sequence[float], across: int, up: int | None) -> Line:
    """The condition as a line in the plane, everything else fixed."""
    weights = condition.weights
    others = [0.0 if index in (across, up) else weight for index, weight in enumerate(weights)]
    return weights[across], 0.0 if up is None else weights[up], linear(others, condition.bias, base)


def halves(polygon: Polygon, line: Line) -> tuple[Polygon, Polygon]:
    """The parts of a polygon where a condition holds and where it does not."""
    a, b, c = line
    if a == b == 0.0:
        return (polygon, []) if c > 0.0 else ([], polygon)
    return clip(polygon, line), clip(polygon, (-a, -b, -c))


def clip(polygon: Polygon, line: Line) -> Polygon:
    """The part of a convex polygon on the positive side of a line."""
    a, b, c = line
    kept: Polygon = []
    for (x0, y0), (x1, y1) in zip(polygon, [*polygon[1:], *polygon[:1]], strict=True):
        first, second = a * x0 + b * y0 + c, a * x1 + b * y1 + c
        if first >= 0:
            kept.append((x0, y0))
        if (first > 0 > second) or (first < 0 < second):
            share = first / (first - second)
            kept.append((x0 + share * (x1 - x0), y0 + share * (y1 - y0)))
    return kept if area(kept) > 0.0 else []


def area(polygon: Polygon) -> float:
    pairs = zip(polygon, [*polygon[1:], *polygon[:1]], strict=True)
    return abs(sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in pairs)) / 2


def region_shape(polygon: Polygon, branch: Branch, x: Scale, y: Scale) -> list[str]:
    places = [(x(px), y(py)) for px, py in polygon]
    outline = " ".join(f"{px:.1f},{py:.1f}" for px, py in places)
    shapes = [f'<polygon class="region" points="{outline}" style="--c:{branch.colour}"/>']
    if area(places) > 900:
        middle_x, middle_y = (sum(values) / len(places) for values in zip(*places, strict=True))
        shapes.append(
            f'<text class="region-name" x="{middle_x:.1f}" y="{middle_y + 5:.1f}" text-anchor="middle">'
            f"{branch.number + 1}</text>"
        )
    return shapes


def dots(visits: Visits, across: int, up: int, x: Scale, y: Scale) -> list[str]:
    """Some of the visited states, as they lie in the plane."""
    rows = visits.features[:: max(1, len(visits.features) // DOTS)]
    inside = rows[
        (rows[:, across] >= x.low)
        & (rows[:, across] <= x.high)
        & (rows[:, up] >= y.low)
        & (rows[:, up] <= y.high)
    ]
    shape = "".join(f"M{x(row[across]):.1f} {y(row[up]):.1f}h0" for row in inside)
    return [f'<path class="visited" d="{shape}"/>']


def histogram(values: np.ndarray, x: Scale, y: Scale, bins: int = 48) -> list[str]:
    """How often each value of a feature was visited."""
    counts, edges = np.histogram(values, bins, (x.low, x.high))
    tallest = max(counts.max(), 1)
    return [
        f'<rect class="count" x="{x(left):.1f}" y="{y(0.9 * count / tallest):.1f}" '
        f'width="{x(right) - x(left):.1f}" height="{y(0.0) - y(0.9 * count / tallest):.1f}"/>'
        for count, left, right in zip(counts, edges[:-1], edges[1:], strict=True)
        if count
    ]


def extent(program: Program, visits: Visits, index: int) -> tuple[float, float]:
    """A little more than what was visited, within the feature's bounds."""
    low, high = (float(value) for value in np.quantile(visits.features[:, index], (0.02, 0.98)))
    room = 0.4 * (high - low) or max(1.0, abs(low))
    feature = program.signature.features[index]
    return max(low - room, feature.low), min(high + room, feature.high)


def feature_label(program: Program, index: int) -> str:
    feature = program.signature.features[index]
    return f"{feature.name} [{feature.unit}]" if feature.unit else feature.name

"""Where in the state space each branch acts, as exact polygons in a plane through it."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from diprl.program import Condition, Node, Program
from diprl.program.evaluate import linear
from diprl.program.paths import descend
from diprl.report.draw import BOTTOM, LEFT, TOP, Markup, Scale, element, label, svg, x_axis, y_axis
from diprl.report.listing import Line
from diprl.report.visits import Visits

WIDTH, HEIGHT = 560, 420
FRAME = {"left": LEFT + 26, "right": WIDTH - 12, "top": TOP, "bottom": HEIGHT - BOTTOM - 6}
"""Where the plane lies on the drawing."""
DOTS = 600
Polygon = list[tuple[float, float]]
Cut = tuple[float, float, float]
"""a, b, c of the line a·x + b·y + c = 0."""


def partition(program: Program, branches: Sequence[Line], visits: Visits, chosen: Sequence[int]) -> Markup:
    """The plane of two features, or the line of one, with every other feature at its median."""
    across, up = chosen[0], chosen[1] if len(chosen) > 1 else None
    x = Scale(*extent(program, visits, across), FRAME["left"], FRAME["right"])
    y = Scale(*((0.0, 1.0) if up is None else extent(program, visits, up)), FRAME["bottom"], FRAME["top"])
    box = [(x.low, y.low), (x.high, y.low), (x.high, y.high), (x.low, y.high)]
    parts: list[Markup] = []
    for number, region in regions(program.root, box, visits.medians(), across, up):
        parts += region_shape(region, branches[number], x, y)
    parts += x_axis(x, y.start, feature_label(program, across))
    if up is None:
        parts += histogram(visits.features[:, across], x, y)
    else:
        parts += [dots(visits.features[:, [across, up]], x, y), *y_axis(y, x, feature_label(program, up))]
    return svg(parts, "Which branch acts where", WIDTH, HEIGHT)


def regions(
    root: Node, box: Polygon, state: Sequence[float], across: int, up: int | None
) -> Iterator[tuple[int, Polygon]]:
    """Every branch that acts somewhere in the box, with the convex polygon in which it does."""

    def split(condition: Condition, polygon: Polygon) -> tuple[Polygon, Polygon]:
        return halves(polygon, cut(condition, state, across, up))

    for number, (_, polygon) in enumerate(descend(root, box, split)):
        if len(polygon) > 2:
            yield number, polygon


def cut(condition: Condition, state: Sequence[float], across: int, up: int | None) -> Cut:
    """The condition as a line in the plane; every other feature is as in the state."""
    weights = condition.weights
    others = [0.0 if index in (across, up) else weight for index, weight in enumerate(weights)]
    return weights[across], 0.0 if up is None else weights[up], linear(others, condition.bias, state)


def halves(polygon: Polygon, line: Cut) -> tuple[Polygon, Polygon]:
    """The parts of a polygon where a condition holds and where it does not."""
    a, b, c = line
    if a == b == 0.0:
        return (polygon, []) if c > 0.0 else ([], polygon)
    return clip(polygon, line), clip(polygon, (-a, -b, -c))


def clip(polygon: Polygon, line: Cut) -> Polygon:
    """The part of a convex polygon on the positive side of a line; empty where it has no area."""
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


def region_shape(polygon: Polygon, branch: Line, x: Scale, y: Scale) -> list[Markup]:
    corners = [(x(across), y(up)) for across, up in polygon]
    outline = " ".join(f"{across:.1f},{up:.1f}" for across, up in corners)
    shapes = [element("polygon", class_=f"region {branch.style}", points=outline)]
    if area(corners) > 900:
        middle, height = np.mean(corners, axis=0)
        shapes.append(label(str(branch.number + 1), middle, height + 5, "region-name"))
    return shapes


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

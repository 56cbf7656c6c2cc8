"""The plane through the state space that the page cuts into regions: its axes and the states that were visited.

The regions follow every edit, so the page's script draws them (`assets/page/regions.js`).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.report.draw import BOTTOM, LEFT, TOP, Markup, Scale, element, svg, x_axis, y_axis
from diprl.report.visits import Visits

WIDTH, HEIGHT = 560, 420
FRAME = {"left": LEFT + 26, "right": WIDTH - 12, "top": TOP, "bottom": HEIGHT - BOTTOM - 6}
"""Where the plane lies on the drawing."""
DOTS = 600


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
    return svg(parts, "Which branch acts where", WIDTH, HEIGHT)


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

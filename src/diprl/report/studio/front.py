"""Runs side by side: what each scores, and its front of size against score."""

from collections.abc import Sequence
from typing import Any

from diprl.report.draw import Chart, Markup, Scale, element, padded, path, svg, x_axis, y_axis
from diprl.report.source import Source

WIDTH, HEIGHT = 640, 240
STYLES = 6


def overview(sources: Sequence[Source]) -> dict[str, Any] | None:
    """A table of the runs and a chart of their fronts; None where there is one run without a front."""
    fronts = [_front(source) for source in sources]
    if len(sources) == 1 and len(fronts[0]) < 2:
        return None
    rows = [
        (source.path.name, source.result.score if source.result else None, source.program, f"s{index % STYLES + 1}")
        for index, source in enumerate(sources)
    ]
    return {"rows": rows, "chart": _chart(fronts)}


def _front(source: Source) -> list[tuple[float, float]]:
    """Numbers in the program against its score, by size: the programs that a run holds, then what it handed over."""
    if source.result is None:
        return []
    points = {(float(entry.program.coefficients), entry.mean) for entry in source.result.front or ()}
    return sorted({*points, (float(source.program.coefficients), source.result.score.mean)})


def _chart(fronts: Sequence[Sequence[tuple[float, float]]]) -> Chart | None:
    points = [point for front in fronts for point in front]
    if not points:
        return None
    sizes, scores = zip(*points, strict=True)
    x, y = Scale(0.0, 1.1 * max(*sizes, 1.0), 70, WIDTH - 14), Scale(*padded(scores), HEIGHT - 40, 10)
    parts: list[Markup] = [*y_axis(y, x, "score"), *x_axis(x, y.start, "numbers in the program")]
    for index, front in enumerate(fronts):
        style = f"s{index % STYLES + 1}"
        parts += [element("path", class_=f"line {style}", d=path(front, x, y))] if len(front) > 1 else []
        parts += [element("circle", class_=f"mean {style}", cx=x(size), cy=y(score), r=4.5) for size, score in front]
    return Chart("", svg(parts, "Size against score", WIDTH, HEIGHT))

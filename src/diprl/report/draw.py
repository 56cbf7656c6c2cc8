"""Small charts as inline SVG; their colours come from the page's style sheet, so they follow light and dark."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, isfinite, log10

WIDTH, HEIGHT = 320, 206
LEFT, RIGHT, TOP, BOTTOM = 42, 12, 10, 34

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Scale:
    """Where numbers lie on the drawing."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True)
class Series:
    """A curve with its name and its class in the style sheet."""

    name: str
    points: Points
    style: str


@dataclass(frozen=True)
class Chart:
    """A drawing with its title, the names of its colours and a remark."""

    title: str
    svg: str
    legend: tuple[tuple[str, str], ...] = ()
    """Name and style of each series."""
    note: str = ""


def line_chart(
    title: str,
    series: Sequence[Series],
    *,
    span: tuple[float, float] | None = None,
    note: str = "",
    baseline: float | None = None,
) -> Chart:
    """Curves over environment steps."""
    series = [line for line in series if line.points]
    x, y = scales(series, span)
    parts = axes(x, y, "steps")
    if baseline is not None and y.low <= baseline <= y.high:
        parts.append(f'<path class="zero" d="M{x.start} {y(baseline):.1f}H{x.end}"/>')
    parts += [f'<path class="line {line.style}" d="{path(line.points, x, y)}"/>' for line in series]
    return Chart(title, svg(parts, title), tuple((line.name, line.style) for line in series), note)


def area_chart(title: str, names: Sequence[str], rows: Sequence[tuple[float, Sequence[float]]]) -> Chart:
    """Shares that add up to one, stacked over environment steps."""
    x = Scale(0.0, max(rows[-1][0], 1.0), LEFT, WIDTH - RIGHT)
    y = Scale(0.0, 1.0, HEIGHT - BOTTOM, TOP)
    floor_line = [(step, 0.0) for step, _ in rows]
    parts = []
    for index in range(len(names)):
        top = [(step, sum(shares[: index + 1])) for step, shares in rows]
        outline = path([*top, *reversed(floor_line)], x, y)
        parts.append(f'<path class="area d{index % 8}" d="{outline}Z"/>')
        floor_line = top
    legend = tuple((name, f"d{index % 8}") for index, name in enumerate(names))
    return Chart(title, svg(parts + axes(x, y, "steps"), title), legend)


def scales(series: Sequence[Series], span: tuple[float, float] | None) -> tuple[Scale, Scale]:
    points = [point for line in series for point in line.points]
    values = [value for _, value in points]
    low, high = span or padded(min(values), max(values))
    last = max(step for step, _ in points)
    return Scale(0.0, max(last, 1.0), LEFT, WIDTH - RIGHT), Scale(low, high, HEIGHT - BOTTOM, TOP)


def padded(low: float, high: float, share: float = 0.05) -> tuple[float, float]:
    """A range with some room around it, of positive size even where all values are equal."""
    room = share * (high - low) or max(abs(low) * 0.1, 1e-3)
    return low - room, high + room


def axes(x: Scale, y: Scale, x_label: str, y_label: str = "") -> list[str]:
    """Grid lines, numbers and names."""
    parts = []
    for value in ticks(y.low, y.high):
        parts.append(f'<path class="grid" d="M{x.start:.1f} {y(value):.1f}H{x.end:.1f}"/>')
        parts.append(
            f'<text class="tick" x="{x.start - 6:.1f}" y="{y(value) + 4:.1f}" text-anchor="end">{short(value)}</text>'
        )
    for value in ticks(x.low, x.high):
        parts.append(
            f'<text class="tick" x="{x(value):.1f}" y="{y.start + 15:.1f}" text-anchor="middle">{short(value)}</text>'
        )
    parts.append(f'<path class="axis" d="M{x.start:.1f} {y.start:.1f}H{x.end:.1f}"/>')
    middle = (x.start + x.end) / 2
    parts.append(
        f'<text class="label" x="{middle:.1f}" y="{y.start + 30:.1f}" text-anchor="middle">{escape(x_label)}</text>'
    )
    if y_label:
        place = f"translate(11 {(y.start + y.end) / 2:.1f}) rotate(-90)"
        parts.append(f'<text class="label" transform="{place}" text-anchor="middle">{escape(y_label)}</text>')
    return parts


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Round numbers between two others.

    >>> ticks(0, 103)
    [0.0, 25.0, 50.0, 75.0, 100.0]
    """
    raw = (high - low) / count
    size = 10.0 ** floor(log10(raw))
    step = min((factor * size for factor in (1.0, 2.0, 2.5, 5.0, 10.0)), key=lambda each: abs(each - raw))
    return [
        round(number * step, 12) for number in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
    ]


def short(value: float) -> str:
    """A number as axes show it.

    >>> short(1500000), short(20000), short(-0.25)
    ('1.5M', '20k', '−0.25')
    """
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size * (1 if letter == "M" else 10):
            return f"{value / size:g}{letter}".replace("-", "−")
    return f"{value:g}".replace("-", "−")


def path(points: Points, x: Callable[[float], float], y: Callable[[float], float]) -> str:
    """A polyline through the points that are finite."""
    finite = [(px, py) for px, py in points if isfinite(py)]
    return "M" + "L".join(f"{x(px):.1f} {y(py):.1f}" for px, py in finite) if finite else ""


def svg(parts: Sequence[str], title: str, width: float = WIDTH, height: float = HEIGHT) -> str:
    """A drawing that fills its column."""
    return f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'

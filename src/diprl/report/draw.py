"""Small charts as inline SVG. Colours come from the page's style sheet, so that they follow light and dark."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from math import ceil, floor, log10

WIDTH, HEIGHT = 320, 206
LEFT, RIGHT, TOP, BOTTOM = 42, 12, 10, 34

Points = Sequence[tuple[float, float]]


class Markup(str):
    """HTML that may enter the page as it is, because every value in it has been escaped."""

    def __html__(self) -> str:
        return self


def asset(name: str) -> Markup:
    """One of the files that pages are made of."""
    return Markup((files("diprl.report") / "assets" / name).read_text(encoding="utf-8"))


def element(tag: str, *content: str, **attributes: str | float) -> Markup:
    """An element with escaped attributes and content.

    >>> element("text", "a < b", Markup("<b/>"), class_="label", x=1 / 3)
    '<text class="label" x="0.3">a &lt; b<b/></text>'
    """
    inside = "".join(part if isinstance(part, Markup) else escape(part) for part in content)
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value) if isinstance(value, str) else f"{value:.1f}"}"'
        for name, value in attributes.items()
    )
    return Markup(f"<{tag}{written}>{inside}</{tag}>")


def svg(parts: Sequence[Markup], title: str, width: float = WIDTH, height: float = HEIGHT, **attributes: str) -> Markup:
    """A drawing that fills its column."""
    box = f"0 0 {width:g} {height:g}"
    return element("svg", *parts, viewBox=box, role="img", aria_label=title, **attributes)


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
class Chart:
    """A drawing with its title, the names of its colours and a remark."""

    title: str
    svg: Markup
    legend: Sequence[tuple[str, str]] = ()
    """The name of each colour and its class in the style sheet."""
    note: str = ""


def line_chart(
    title: str,
    curves: Sequence[tuple[str, str, Points]],
    span: tuple[float, float] | None = None,
    note: str = "",
    baseline: float | None = None,
) -> Chart | None:
    """Curves over environment steps, each with its name and style; None where nothing was measured."""
    curves = [curve for curve in curves if curve[-1]]
    if not curves:
        return None
    steps, values = zip(*(point for *_, points in curves for point in points), strict=True)
    x = Scale(0.0, max(*steps, 1.0), LEFT, WIDTH - RIGHT)
    y = Scale(*(span or padded(values)), HEIGHT - BOTTOM, TOP)
    parts = [*x_axis(x, y.start, "steps"), *y_axis(y, x)]
    if baseline is not None and y.low <= baseline <= y.high:
        parts.append(element("path", class_="zero", d=f"M{x.start} {y(baseline):.1f}H{x.end}"))
    parts += [element("path", class_=f"line {style}", d=path(points, x, y)) for _, style, points in curves]
    return Chart(title, svg(parts, title), [(name, style) for name, style, _ in curves], note)


def area_chart(title: str, rows: Sequence[tuple[float, Sequence[float]]]) -> Chart | None:
    """Shares that add up to one, stacked over environment steps and named 1, 2, …; None without any."""
    if not rows:
        return None
    x = Scale(0.0, max(rows[-1][0], 1.0), LEFT, WIDTH - RIGHT)
    y = Scale(0.0, 1.0, HEIGHT - BOTTOM, TOP)
    parts, legend = [], []
    below = [(step, 0.0) for step, _ in rows]
    for index in range(len(rows[0][1])):
        above = [(step, sum(shares[: index + 1])) for step, shares in rows]
        style = f"d{index % 8}"
        parts.append(element("path", class_=f"area {style}", d=path([*above, *reversed(below)], x, y) + "Z"))
        legend.append((str(index + 1), style))
        below = above
    return Chart(title, svg([*parts, *x_axis(x, y.start, "steps"), *y_axis(y, x)], title), legend)


def x_axis(x: Scale, bottom: float, name: str) -> list[Markup]:
    """The line at the bottom, with numbers and a name."""
    values = ticks(x.low, x.high, 4 if x.end < WIDTH else 6)
    numbers = [label(axis_number(value), x(value), bottom + 15, "tick") for value in values]
    line = element("path", class_="axis", d=f"M{x.start:.1f} {bottom:.1f}H{x.end:.1f}")
    return [*numbers, line, label(name, (x.start + x.end) / 2, bottom + 30)]


def y_axis(y: Scale, x: Scale, name: str = "") -> list[Markup]:
    """Lines across the drawing, with numbers and perhaps a name on the left."""
    parts = []
    for value in ticks(y.low, y.high):
        parts.append(element("path", class_="grid", d=f"M{x.start:.1f} {y(value):.1f}H{x.end:.1f}"))
        parts.append(label(axis_number(value), x.start - 6, y(value) + 4, "tick", "end"))
    if name:
        place = f"translate(11 {(y.start + y.end) / 2:.1f}) rotate(-90)"
        parts.append(element("text", name, class_="label", transform=place, text_anchor="middle"))
    return parts


def label(text: str, x: float, y: float, style: str = "label", anchor: str = "middle") -> Markup:
    return element("text", text, class_=style, x=x, y=y, text_anchor=anchor)


def padded(values: Sequence[float], share: float = 0.05) -> tuple[float, float]:
    """The range of the values with some room around it, of positive size even where all are equal."""
    low, high = min(values), max(values)
    room = share * (high - low) or max(abs(low) * 0.1, 1e-3)
    return low - room, high + room


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Round numbers between two others.

    >>> ticks(0, 103)
    [0.0, 25.0, 50.0, 75.0, 100.0]
    """
    wanted = (high - low) / count
    size = 10.0 ** floor(log10(wanted))
    step = min((factor * size for factor in (1.0, 2.0, 2.5, 5.0, 10.0)), key=lambda each: abs(each - wanted))
    numbers = range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
    return [round(number * step, 12) for number in numbers]


def axis_number(value: float) -> str:
    """A number as axes show it.

    >>> axis_number(1500000), axis_number(20000), axis_number(-0.25)
    ('1.5M', '20k', '−0.25')
    """
    size, letter = (1e6, "M") if abs(value) >= 1e6 else (1e3, "k") if abs(value) >= 1e4 else (1.0, "")
    return f"{value / size:g}{letter}".replace("-", "−")


def path(points: Points, x: Scale, y: Scale) -> str:
    """A line through the points, as the `d` of a path element."""
    return "M" + "L".join(f"{x(across):.1f} {y(up):.1f}" for across, up in points)

"""Figures from records, each as SVG and PNG; needs the extra `report`."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diprl.arena.score import LADDER
from diprl.errors import optional
from diprl.experiment.results import MEASURES, Results, extracted, relaxed, score
from diprl.experiment.statistics import bootstrap, mean_and_deviation, performance_profile
from diprl.experiment.suites import ALL_METHODS, TREES
from diprl.experiment.tables import RIVAL, TABLES, Line, line_scores, published
from diprl.methods.pi_prl import SEARCH
from diprl.methods.registry import METHODS
from diprl.runs.result import Result
from diprl.system.files import write_whole

COLOURS = {"ppo": "#7f7f7f", "viper": "#8c564b", "dtsemnet": "#2ca02c", "pi-prl": "#ff7f0e", "diprl": "#1f77b4"}
PAPER_COLOUR, PAPER_LINE = "#bbbbbb", "#888888"
AT_THE_END = {None: score, "eval/distance": MEASURES["distance"]}
"""What stands in for the curve of a method that has none, by the curve's metric."""
PRESET_COLOURS = {"default": "#1f77b4", "paper": "#9467bd", "release": "#d62728"}
STYLES = ("-", "--")
"""One line style per stage of a run."""
THRESHOLDS = np.linspace(0.0, 1.2, 61)
"""Where performance profiles are read off."""

Floats = NDArray[np.float64]
Draw = Callable[[Any, Results], None]
"""Draws one task into an axis."""


class Curve(NamedTuple):
    """Values by environment step."""

    steps: Floats
    values: Floats


class Band(NamedTuple):
    """Mean and range of several curves at common steps."""

    steps: Floats
    mean: Floats
    low: Floats
    high: Floats


def curve_of(result: Result, metric: str | None) -> Curve:
    """A metric of a run over its training; None stands for its return.

    While pi-PRL searches, its policy is the relaxed one; everything else is judged by what it acts with in the end.
    VIPER's curve would be that of its oracle, so it has none.
    """
    method, steps = result.spec.method, np.array(result.curve["steps"], np.float64)

    def column(name: str) -> Floats:
        return np.array(result.curve.get(name, [None] * len(steps)), np.float64)

    values = column(metric or "eval/program")
    if metric is None and method == "pi-prl":
        values = np.where(steps <= search_end(result), column("eval/relaxed"), values)
    shown = np.isfinite(values) & (method != "viper")
    return Curve(steps[shown], values[shown])


def search_end(result: Result) -> float:
    """The step at which the program was extracted."""
    return result.steps.get(SEARCH, result.total_steps)


def band(curves: Sequence[Curve]) -> Band | None:
    """The curves at the steps of the longest; one that ends before, its task solved, stays at its last value.

    None where no curve has points.
    """
    curves = [curve for curve in curves if len(curve.steps)]
    if not curves:
        return None
    first = max(curve.steps[0] for curve in curves)
    longest = max(curves, key=lambda curve: curve.steps[-1]).steps
    steps = longest[longest >= first]
    values = np.stack([np.interp(steps, curve.steps, curve.values) for curve in curves])
    return Band(steps, values.mean(axis=0), values.min(axis=0), values.max(axis=0))


def import_pyplot() -> Any:
    """Matplotlib without a screen, with files that are the same each time."""
    matplotlib = optional("matplotlib", "figures need Matplotlib: install it with: pip install 'diprl[report]'")
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "diprl", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3})
    from matplotlib import pyplot

    return pyplot


def per_task(results: Results, draw: Draw, label: str, steps: bool = False) -> Any:
    """One panel per task."""
    tasks = results.tasks
    columns = min(len(tasks), 3)
    rows = -(-len(tasks) // columns)
    figure, axes = import_pyplot().subplots(rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False)
    for axis, task in zip(axes.flat, tasks, strict=False):
        draw(axis, results.having(task=task))
        axis.set_title(task)
        axis.set_ylabel(label)
        if steps:
            axis.set_xlabel("environment steps")
        if axis.get_legend_handles_labels()[0]:
            axis.legend(fontsize=7)
        else:
            axis.text(0.5, 0.5, "missing", ha="center", transform=axis.transAxes)
    for axis in list(axes.flat)[len(tasks) :]:
        axis.remove()
    figure.tight_layout()
    return figure


def draw_curves(axis: Any, results: Results, metric: str | None, methods: Sequence[str]) -> None:
    """Mean over seeds and the range between them; None is the return of what a run stands for at each moment."""
    for method in methods:
        part, title, colour = results.having(method=method, variant=""), METHODS[method].title, COLOURS[method]
        found = band([curve_of(result, metric) for result in part.done])
        if found is not None:
            axis.plot(found.steps, found.mean, color=colour, label=title)
            axis.fill_between(found.steps, found.low, found.high, color=colour, alpha=0.15, linewidth=0)
        elif metric in AT_THE_END and (ends := part.present(AT_THE_END[metric])):
            axis.axhline(float(np.mean(ends)), color=colour, label=f"{title}, at the end", linestyle="-.")


def draw_bars(axis: Any, results: Results, lines: Sequence[Line]) -> None:
    """Ours and the paper's, side by side, with deviations."""
    for index, line in enumerate(lines):
        values = results.having(method=line.method).present(line.measure)
        bars = {
            "ours": (index - 0.2, mean_and_deviation(values) if values else None, COLOURS[line.method]),
            "paper": (index + 0.2, published(*line.paper, task=results.tasks[0]), PAPER_COLOUR),
        }
        for whose, (place, found, colour) in bars.items():
            if found:
                axis.bar(place, found[0], 0.4, yerr=found[1], color=colour, label=f"{line.label}, {whose}")
    axis.set_xticks(range(len(lines)), [line.label for line in lines])


def draw_ablation(axis: Any, results: Results, stages: Mapping[str, Sequence[Line]]) -> None:
    """Return by setting: ours with every seed as a point, and the paper's."""
    colour = COLOURS["diprl"]
    for (stage, lines), style in zip(stages.items(), STYLES, strict=False):
        points = [results.having(variant=line.variant).present(line.measure) for line in lines]
        held = [index for index, values in enumerate(points) if values]
        if held:
            means = [np.mean(points[index]) for index in held]
            axis.plot(held, means, style, marker="o", color=colour, label=f"ours, {stage}")
        for index in held:
            axis.scatter([index] * len(points[index]), points[index], s=8, color=colour, alpha=0.5)
        cells = [published(*line.paper, task=results.tasks[0]) for line in lines]
        known = [(index, cell[0]) for index, cell in enumerate(cells) if cell]
        axis.plot(*zip(*known, strict=True), style, marker="x", color=PAPER_LINE, label=f"paper, {stage}")
        axis.set_xticks(range(len(lines)), [line.variant for line in lines])


def draw_failure(axis: Any, results: Results) -> None:
    """Return over training, and what extraction does to it."""
    draw_curves(axis, results, None, TREES)
    for method in TREES:
        for result in results.having(method=method).done:
            before, after, at = relaxed(result), extracted(result), search_end(result)
            if before is not None and after is not None:
                axis.plot([at, at], [before, after], color=COLOURS[method], alpha=0.6)
                axis.plot([at], [after], "v", color=COLOURS[method], markersize=5)


def draw_ladder(axis: Any, results: Results) -> None:
    """Return after each step from relaxed policy to program, by preset; the band is what the paper reports."""
    for preset in results.presets:
        colour, part = PRESET_COLOURS[preset], results.having(preset=preset)
        rungs = [part.present(MEASURES[name]) for name in LADDER]
        if all(rungs):
            axis.plot(range(len(rungs)), [np.mean(values) for values in rungs], marker="o", color=colour, label=preset)
            for place, values in enumerate(rungs):
                axis.scatter([place] * len(values), values, s=5, color=colour, alpha=0.25)
    reported = published("reward", RIVAL, task=results.tasks[0])
    if reported:
        mean, deviation = reported
        axis.axhline(mean, color=PAPER_LINE, linestyle="--", label="paper")
        axis.axhspan(mean - deviation, mean + deviation, color=PAPER_COLOUR, alpha=0.4, linewidth=0)
    axis.set_xticks(range(len(LADDER)), [name.replace(", ", "\n").replace(" ", "\n") for name in LADDER], fontsize=6)


def profiles(results: Results) -> Any:
    """The share of runs above each normalised return, one line per method."""
    figure, axis = import_pyplot().subplots(figsize=(5, 3.5))
    for line in TABLES["discrete"][0].lines:
        scores = list(line_scores(line, results.having(method=line.method, variant=line.variant)).values())
        if scores and line.measure is score:
            profile, colour = bootstrap(performance_profile(THRESHOLDS), scores), COLOURS[line.method]
            axis.plot(THRESHOLDS, profile.value, STYLES[bool(line.variant)], color=colour, label=line.label)
            axis.fill_between(THRESHOLDS, profile.low, profile.high, color=colour, alpha=0.15)
    axis.set_xlabel("normalised return")
    axis.set_ylabel("share of runs above")
    if axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize=7)
    figure.tight_layout()
    return figure


def curves(metric: str | None, methods: Sequence[str], label: str) -> Callable[[Results], Any]:
    return partial(per_task, draw=partial(draw_curves, metric=metric, methods=methods), label=label, steps=True)


def ablation(suite: str, measures: Mapping[str, str]) -> Callable[[Results], Any]:
    """A figure of some measures, each with the name of its stage, from the lines of the experiment's table."""
    lines = TABLES[suite][0].lines
    stages = {stage: [line for line in lines if line.measure is MEASURES[name]] for stage, name in measures.items()}
    return partial(per_task, draw=partial(draw_ablation, stages=stages), label="return")


RETURNS = curves(None, ALL_METHODS, "return")
ENTROPY = curves("train/architecture_entropy", TREES, "architecture entropy")
FIGURES: dict[str, dict[str, Callable[[Results], Any]]] = {
    "discrete": {"returns": RETURNS, "entropy": ENTROPY, "profiles": profiles},
    "seeds": {"returns": RETURNS, "entropy": ENTROPY, "profiles": profiles},
    "ladder": {"ladder": partial(per_task, draw=draw_ladder, label="return")},
    "continuous": {
        "returns": RETURNS,
        "distances": curves("eval/distance", ALL_METHODS, "distance to the goal"),
        "entropy": ENTROPY,
        "profiles": profiles,
    },
    "alpha": {"alpha": ablation("alpha", {"relaxed": "relaxed return", "extracted": "return"})},
    "target-entropy": {"targets": ablation("target-entropy", {"extracted": "return"})},
    "depth": {},
    "untuned": {},
    "entropy": {
        "bars": partial(per_task, draw=partial(draw_bars, lines=TABLES["entropy"][0].lines), label="entropy"),
        "curves": ENTROPY,
    },
    "failure": {"failure": partial(per_task, draw=draw_failure, label="return", steps=True)},
}
"""The figures of each experiment by file name."""


def write_figures(suite: str, results: Results, folder: Path) -> None:
    """Every figure of an experiment as SVG and PNG, without anything that differs from day to day."""
    for name, draw in FIGURES[suite].items():
        figure = draw(results)
        for kind, undated in (("svg", {"Date": None}), ("png", {"Software": None})):
            drawn = BytesIO()
            figure.savefig(drawn, format=kind, dpi=150, metadata=undated)
            write_whole(folder / f"{name}.{kind}", drawn.getvalue())
        import_pyplot().close(figure)

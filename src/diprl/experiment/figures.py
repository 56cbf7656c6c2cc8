"""Figures from records, each as SVG and PNG; needs the extra `report`."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from diprl.errors import DiprlError
from diprl.experiment.curves import Band, band, progress_rows, search_end
from diprl.experiment.lines import ENTROPY_LINES, Line, returns
from diprl.experiment.paper import published
from diprl.experiment.results import Results, extracted, relaxed, score
from diprl.experiment.statistics import mean_and_deviation, performance_profile
from diprl.experiment.tables import line_scores

COLOURS = {
    "ppo": "#7f7f7f",
    "viper": "#8c564b",
    "dtsemnet": "#2ca02c",
    "pi-prl": "#ff7f0e",
    "diprl": "#1f77b4",
}
TITLES = {"ppo": "PPO", "viper": "VIPER", "dtsemnet": "DTSemNet", "pi-prl": "pi-PRL", "diprl": "DiPRL"}
PAPER_COLOUR = "#bbbbbb"
STYLES = ("-", "--")
"""One line style per stage of a run."""

Draw = Callable[[Any, Results], None]
"""Draws one task into an axis."""


def import_pyplot() -> Any:
    """Matplotlib without a screen, with files that are the same each time."""
    try:
        import matplotlib
    except ImportError as error:
        raise DiprlError("figures need Matplotlib: install it with: pip install 'diprl[report]'") from error
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "diprl", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3})
    from matplotlib import pyplot

    return pyplot


def per_task(results: Results, draw: Draw, label: str, steps: bool = False) -> Any:
    """One panel per task."""
    pyplot = import_pyplot()
    tasks = results.tasks
    columns = min(len(tasks), 3)
    rows = -(-len(tasks) // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False)
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
        part = results.having(method=method)
        found = band([progress_rows(result, metric) for result in part.done()])
        if found is not None:
            draw_band(axis, found, COLOURS[method], TITLES[method])
        elif part.present(score) and metric is None:
            level = float(np.mean(part.present(score)))
            axis.axhline(level, color=COLOURS[method], label=f"{TITLES[method]}, at the end", linestyle="-.")


def draw_band(axis: Any, found: Band, colour: str, name: str) -> None:
    axis.plot(found.steps, found.mean, color=colour, label=name)
    axis.fill_between(found.steps, found.low, found.high, color=colour, alpha=0.15, linewidth=0)


def draw_bars(axis: Any, results: Results, lines: Sequence[Line]) -> None:
    """Ours and the paper's, side by side, with deviations."""
    task = results.tasks[0]
    for index, line in enumerate(lines):
        values = results.having(method=line.method).present(line.measure)
        cell = published(*line.paper, task=task)
        if values:
            mean, deviation = mean_and_deviation(values)
            axis.bar(
                index - 0.2,
                mean,
                0.4,
                yerr=deviation,
                color=COLOURS[line.method],
                label=f"{line.label}, ours",
            )
        if cell:
            axis.bar(index + 0.2, cell[0], 0.4, yerr=cell[1], color=PAPER_COLOUR, label=f"{line.label}, paper")
    axis.set_xticks(range(len(lines)), [line.label for line in lines])


def draw_ablation(axis: Any, results: Results, table: str, stages: dict[str, Any]) -> None:
    """Return by setting: ours with every seed as a point, and the paper's."""
    task = results.tasks[0]
    labels = list(dict.fromkeys(run.variant for run, _ in results.pairs))
    for (stage, measure), style in zip(stages.items(), STYLES, strict=False):
        points = [results.having(variant=label).present(measure) for label in labels]
        held = [index for index, values in enumerate(points) if values]
        means = [np.mean(points[index]) for index in held]
        if held:
            axis.plot(held, means, style, marker="o", color=COLOURS["diprl"], label=f"ours, {stage}")
        for index in held:
            axis.scatter([index] * len(points[index]), points[index], s=8, color=COLOURS["diprl"], alpha=0.5)
        path = (stage,) if table == "alpha_ablation" else ()
        cells = [published(table, label, *path, task=task) for label in labels]
        known = [(index, cell[0]) for index, cell in enumerate(cells) if cell]
        axis.plot(*zip(*known, strict=True), style, marker="x", color="#888888", label=f"paper, {stage}")
    axis.set_xticks(range(len(labels)), labels)


def draw_failure(axis: Any, results: Results) -> None:
    """Return over training, and what extraction does to it."""
    draw_curves(axis, results, None, ("pi-prl", "diprl"))
    for method in ("pi-prl", "diprl"):
        for result in results.having(method=method).done():
            before, after, at = relaxed(result), extracted(result), search_end(result)
            if before is not None and after is not None:
                axis.plot([at, at], [before, after], color=COLOURS[method], alpha=0.6)
                axis.plot([at], [after], "v", color=COLOURS[method], markersize=5)


def profiles(results: Results) -> Any:
    """The share of runs above each normalised return, one line per method."""
    pyplot = import_pyplot()
    figure, axis = pyplot.subplots(figsize=(5, 3.5))
    thresholds = np.linspace(0.0, 1.2, 61)
    for line in returns("discrete_reward"):
        scores = list(line_scores(line, results).values())
        if scores and line.measure is score:
            profile = performance_profile(scores, thresholds)
            axis.plot(thresholds, profile.share, color=COLOURS[line.method], label=line.label)
            axis.fill_between(thresholds, profile.low, profile.high, color=COLOURS[line.method], alpha=0.15)
    axis.set_xlabel("normalised return")
    axis.set_ylabel("share of runs above")
    if axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize=7)
    figure.tight_layout()
    return figure


METHODS = ("ppo", "viper", "dtsemnet", "pi-prl", "diprl")
TREES = ("pi-prl", "diprl")


def curves_figure(results: Results, metric: str | None, methods: Sequence[str], label: str) -> Any:
    return per_task(results, partial(draw_curves, metric=metric, methods=methods), label, steps=True)


def entropy_curves(results: Results) -> Any:
    return curves_figure(results, "train/architecture_entropy", TREES, "architecture entropy")


def return_curves(results: Results) -> Any:
    return curves_figure(results, None, METHODS, "return")


FIGURES: dict[str, dict[str, Callable[[Results], Any]]] = {
    "discrete": {"returns": return_curves, "entropy": entropy_curves, "profiles": profiles},
    "continuous": {
        "returns": return_curves,
        "distances": lambda results: curves_figure(results, "eval/distance", METHODS, "distance to the goal"),
        "entropy": entropy_curves,
        "profiles": profiles,
    },
    "alpha": {
        "alpha": lambda results: per_task(
            results,
            partial(draw_ablation, table="alpha_ablation", stages={"relaxed": relaxed, "extracted": score}),
            "return",
        )
    },
    "target-entropy": {
        "targets": lambda results: per_task(
            results,
            partial(draw_ablation, table="target_entropy_ablation", stages={"extracted": score}),
            "return",
        )
    },
    "depth": {},
    "entropy": {
        "bars": lambda results: per_task(results, partial(draw_bars, lines=ENTROPY_LINES), "entropy"),
        "curves": entropy_curves,
    },
    "failure": {"failure": lambda results: per_task(results, draw_failure, "return", steps=True)},
}


def write_figures(suite: str, results: Results, folder: Path) -> list[Path]:
    """Every figure of an experiment, for each preset, as SVG and PNG."""
    written = []
    for preset in results.presets:
        for name, draw in FIGURES[suite].items():
            stem = name if len(results.presets) == 1 else f"{name}-{preset}"
            written += save(draw(results.having(preset=preset)), folder / stem)
    return written


def save(figure: Any, stem: Path) -> list[Path]:
    """Write a figure without anything that differs from day to day, and let go of it."""
    written = []
    for ending, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
        written.append(stem.with_name(f"{stem.name}.{ending}"))
        figure.savefig(written[-1], dpi=150, metadata=metadata)
    import_pyplot().close(figure)
    return written

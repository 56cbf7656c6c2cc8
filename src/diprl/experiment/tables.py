"""The paper's tables, made from records: our numbers with the paper's beneath them, in Markdown and in LaTeX.

The tables are data in `tables.toml`, the paper's means and deviations over three seeds in `paper_results.json`.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from diprl.experiment.results import MEASURES, Measure, Results
from diprl.experiment.statistics import bootstrap, interquartile_mean, mean_and_deviation, probability_of_improvement
from diprl.experiment.suites import UNMODIFIED

PAPER: dict[str, Any] = json.loads(Path(__file__).with_name("paper_results.json").read_text(encoding="utf-8"))
PAPER["reward"] = {row: scores | PAPER["continuous_reward"][row] for row, scores in PAPER["discrete_reward"].items()}
PAPER_NAMES = {"LunarLander-v3": "LunarLander-v2"} | {ours: theirs for theirs, ours in UNMODIFIED.items()}
"""Tasks that the paper knows under another name."""
MOST_COLUMNS = 10
"""Tasks beside each other in a table."""
MISSING = "missing"
NOTHING = "–"
CLOSE = 0.1
RIVAL = "DiPRL"
"""The line that all others are compared with."""
TaskScores = dict[str, Sequence[float]]


class Line(NamedTuple):
    """One row of a table: a measure of the runs of a method, and the paper's row for it."""

    label: str
    method: str
    measure: Measure
    paper: tuple[str, ...]
    """Path in the paper's results; empty where the paper has no such row."""
    variant: str


class PaperTable(NamedTuple):
    """A table before its numbers."""

    name: str
    title: str
    lines: tuple[Line, ...]
    digits: int = 2
    first_column: str = "method"


def read_line(label: str, method: str, measure: str, paper: str = "", variant: str = "") -> Line:
    return Line(label, method, MEASURES[measure], tuple(paper.split("/")) if paper else (), variant)


def read_tables() -> dict[str, tuple[PaperTable, ...]]:
    """The tables of each experiment."""
    content = tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))
    tables = {
        key: PaperTable(**table | {"lines": tuple(read_line(*line) for line in table["lines"])})
        for key, table in content["tables"].items()
    }
    return {suite: tuple(tables[key] for key in keys) for suite, keys in content["experiments"].items()}


TABLES = read_tables()


def published(*path: str, task: str) -> tuple[float, float] | None:
    """The paper's mean and deviation in a row of a table, or None where it has none.

    >>> published("reward", "DiPRL", task="LunarLander-v3")
    (260.21, 13.61)
    """
    place: Any = PAPER
    for name in (*path, PAPER_NAMES.get(task, task)):
        place = place.get(name, {})
    return (place[0], place[1]) if place else None


def published_range(task: str) -> tuple[float, float]:
    """The lowest and the highest mean return of any method in the paper, by which returns are normalised."""
    means = [row[PAPER_NAMES.get(task, task)][0] for row in PAPER["reward"].values()]
    return min(means), max(means)


class Table(NamedTuple):
    """A finished table: text in every cell."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def parts(table: PaperTable, results: Results) -> Iterator[tuple[str, Line, Results]]:
    """Each preset and line that runs were asked for, with its part of the results."""
    for preset in results.presets:
        for line in table.lines:
            part = results.having(method=line.method, preset=preset, variant=line.variant)
            if part.pairs:
                yield preset, line, part


def comparison(table: PaperTable, results: Results) -> Table:
    """A pair of rows per line and preset: ours, and the paper's where it has one."""
    rows = []
    for preset, line, part in parts(table, results):
        label = line.label if len(results.presets) == 1 else f"{line.label} [{preset}]"
        cells = [our_cell(part.having(task=task), line, table.digits) for task in results.tasks]
        rows.append((label, "ours", *cells))
        if line.paper:
            cells = [plus_minus(published(*line.paper, task=task), table.digits) for task in results.tasks]
            rows.append(("", "paper", *cells))
    columns = (table.first_column, "", *results.tasks)
    wide = len(results.tasks) > MOST_COLUMNS
    return by_task(table, rows, columns) if wide else Table(table.title, columns, tuple(rows))


def by_task(table: PaperTable, rows: Sequence[tuple[str, ...]], columns: Sequence[str]) -> Table:
    """A line for each task, where a column for each would be too wide."""
    lines = [(task, "ours", *(row[place] for row in rows)) for place, task in enumerate(columns) if place > 1]
    return Table(table.title, ("task", "", *(row[0] for row in rows)), tuple(lines))


def our_cell(part: Results, line: Line, digits: int) -> str:
    """Mean and deviation over seeds, saying so where seeds are missing."""
    values, expected = part.present(line.measure), len(part.pairs)
    if not values:
        return MISSING if part.missing else NOTHING
    text = plus_minus(mean_and_deviation(values), digits)
    return text if len(values) == expected else f"{text} ({len(values)} of {expected} seeds)"


def plus_minus(found: tuple[float, float] | None, digits: int) -> str:
    """A mean and its deviation."""
    return NOTHING if found is None else f"{number(found[0], digits)} ± {found[1]:.{digits}f}"


def number(value: float, digits: int) -> str:
    """A number with a true minus sign; what rounds to zero has none.

    >>> number(-0.001, 2), number(-79.934, 2)
    ('0.00', '−79.93')
    """
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else f"{0:.{digits}f}"


def seed_points(table: PaperTable, results: Results) -> Table:
    """Every run by itself."""
    rows = []
    for preset, line, part in parts(table, results):
        for task in part.tasks:
            runs = [part.having(task=task, seed=seed) for seed in results.seeds]
            rows.append((line.label, preset, task, *(seed_cell(run, line, table.digits) for run in runs)))
    heads = (table.first_column, "preset", "task", *(f"seed {seed}" for seed in results.seeds))
    return Table(f"{table.title}: every seed", heads, tuple(rows))


def seed_cell(run: Results, line: Line, digits: int) -> str:
    values = run.present(line.measure)
    return number(values[-1], digits) if values else MISSING if run.missing else NOTHING


def aggregates(table: PaperTable, results: Results) -> Table:
    """Interquartile means of normalised returns, and how likely the rival beats each line, over the tasks with runs."""
    found = [(line, preset, line_scores(line, part)) for preset, line, part in parts(table, results)]
    rivals = {preset: scores for line, preset, scores in found if line.label == RIVAL}
    rows = []
    for line, preset, ours in found:
        better = estimate(probability_of_improvement, rivals.get(preset, {}), ours)
        if ours and line.label == RIVAL:
            better = NOTHING
        tasks = f"{len(ours)} of {len(results.tasks)}" if ours else "0"
        rows.append((line.label, preset, estimate(interquartile_mean, ours), better, tasks))
    heads = (table.first_column, "preset", "interquartile mean", f"P({RIVAL} is better)", "tasks")
    title = "Aggregates, with 95% intervals; 0 and 1 are the lowest and the highest mean in the paper's table"
    return Table(title, heads, tuple(rows))


def between(table: PaperTable, results: Results) -> Table:
    """Mean returns on a scale on which the first line has 0 and the best one 1; then who keeps up with the second."""
    first, second, *others = table.lines
    means = {line.label: line_means(line, results) for line in table.lines}
    compared = [line.label for line in (second, *others)]
    scores: dict[str, dict[str, float]] = {label: {} for label in compared}
    for task, low in means[first.label].items():
        best = max(means[label].get(task, low) for label in compared)
        for label in compared:
            if task in means[label] and best > low:
                scores[label][task] = (means[label][task] - low) / (best - low)
    rows = [(task, *(score_cell(scores[label].get(task)) for label in compared)) for task in results.tasks]
    for name, less in ((f"as good as {second.label}", 0.0), (f"at most {CLOSE:g} below it", CLOSE)):
        rows.append((name, NOTHING, *(keeping_up(scores[label], scores[second.label], less) for label in compared[1:])))
    title = f"Mean returns between {first.label} (0) and the best of these (1)"
    return Table(title, (table.first_column, *compared), tuple(rows))


def line_means(line: Line, results: Results) -> dict[str, float]:
    """The mean over the seeds there are, by task."""
    part = results.having(method=line.method, variant=line.variant)
    values = {task: part.having(task=task).present(line.measure) for task in part.tasks}
    return {task: mean_and_deviation(found)[0] for task, found in values.items() if found}


def score_cell(score: float | None) -> str:
    return MISSING if score is None else number(score, 2)


def keeping_up(scores: dict[str, float], rival: dict[str, float], less: float) -> str:
    """On how many of the tasks that both have the scores are as good, or so much less at most."""
    shared = scores.keys() & rival.keys()
    return f"{sum(scores[task] >= rival[task] - less for task in shared)} of {len(shared)}"


def line_scores(line: Line, part: Results) -> TaskScores:
    """Values by task, for tasks with any, on a scale on which the paper's lowest mean is 0 and its highest 1."""
    scores: TaskScores = {}
    for task in part.tasks:
        low, high = published_range(task)
        values = part.having(task=task).present(line.measure)
        scores |= {task: [(value - low) / (high - low) for value in values]} if values else {}
    return scores


def estimate(statistic: Callable[..., Any], *scores: TaskScores) -> str:
    """A statistic over the tasks that all scores have in common, with its interval."""
    shared = [task for task in scores[-1] if all(task in found for found in scores)]
    if not shared:
        return MISSING
    found = bootstrap(statistic, *([by_task[task] for task in shared] for by_task in scores))
    return f"{number(found.value, 2)} [{number(found.low, 2)}, {number(found.high, 2)}]"


def markdown(table: Table) -> str:
    """The table as GitHub shows it, columns aligned in plain text too."""
    rows = [table.columns, *table.rows]
    widths = [max(3, *(len(row[index]) for row in rows)) for index in range(len(table.columns))]
    rows.insert(1, tuple("-" * width for width in widths))
    padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in padded)


SPECIAL = str.maketrans(
    {mark: rf"\{mark}" for mark in "&%_#"} | {"±": r"$\pm$", "−": "$-$", "–": "--", "×": r"$\times$", "α": r"$\alpha$"}
)
"""What LaTeX writes otherwise."""


def latex(table: Table) -> str:
    """The table as a `tabular` with its title as caption."""
    head, *rows = [" & ".join(cell.translate(SPECIAL) for cell in row) + r" \\" for row in (table.columns, *table.rows)]
    lines = [
        r"\begin{table}",
        rf"\caption{{{table.title.translate(SPECIAL)}}}",
        rf"\begin{{tabular}}{{ll{'r' * (len(table.columns) - 2)}}}",
        *(r"\hline", head, r"\hline", *rows, r"\hline"),
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"

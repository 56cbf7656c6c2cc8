"""Tables from records: our numbers with the paper's beneath them, in Markdown and in LaTeX."""

from collections.abc import Sequence
from dataclasses import dataclass

from diprl.experiment.lines import Line, TableLayout
from diprl.experiment.paper import published, published_range
from diprl.experiment.results import Results
from diprl.experiment.statistics import (
    Estimate,
    improvement_estimate,
    interquartile_estimate,
    mean_and_deviation,
    normalised,
)

MISSING = "missing"
NOTHING = "–"


@dataclass(frozen=True)
class Table:
    """A finished table: text in every cell."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def comparison(layout: TableLayout, results: Results) -> Table:
    """A pair of rows per line and preset: ours, and the paper's where it has one."""
    rows = []
    for preset in results.presets:
        for line in layout.lines:
            part = results.having(method=line.method, preset=preset, variant=line.variant)
            if not part.pairs:
                continue
            label = line.label if len(results.presets) == 1 else f"{line.label} [{preset}]"
            rows.append((label, "ours", *(our_cell(part, line, task, layout.digits) for task in results.tasks)))
            if line.paper:
                rows.append(("", "paper", *(paper_cell(line, task, layout.digits) for task in results.tasks)))
    return Table(layout.title, (layout.first_column, "", *results.tasks), tuple(rows))


def our_cell(part: Results, line: Line, task: str, digits: int) -> str:
    """Mean and deviation over seeds, saying so where seeds are missing."""
    at_task = part.having(task=task)
    values, expected = at_task.present(line.measure), len(at_task.pairs)
    if not expected:
        return NOTHING
    if not values:
        return MISSING if at_task.missing else NOTHING
    text = plus_minus(*mean_and_deviation(values), digits)
    return text if len(values) == expected else f"{text} ({len(values)} of {expected} seeds)"


def paper_cell(line: Line, task: str, digits: int) -> str:
    cell = published(*line.paper, task=task)
    return NOTHING if cell is None else plus_minus(*cell, digits)


def plus_minus(mean: float, deviation: float, digits: int) -> str:
    return f"{number(mean, digits)} ± {deviation:.{digits}f}"


def number(value: float, digits: int) -> str:
    """A number with a true minus sign; what rounds to zero has none.

    >>> number(-0.001, 2), number(-79.934, 2)
    ('0.00', '−79.93')
    """
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else f"{0:.{digits}f}"


def seed_points(layout: TableLayout, results: Results) -> Table:
    """Every run by itself."""
    rows = []
    for preset in results.presets:
        for line in layout.lines:
            for task in results.tasks:
                part = results.having(method=line.method, preset=preset, variant=line.variant, task=task)
                if part.pairs:
                    rows.append((line.label, preset, task, *seed_cells(part, line, results.seeds, layout.digits)))
    heads = (layout.first_column, "preset", "task", *(f"seed {seed}" for seed in results.seeds))
    return Table(f"{layout.title}: every seed", heads, tuple(rows))


def seed_cells(part: Results, line: Line, seeds: Sequence[int], digits: int) -> list[str]:
    values, absent = part.values(line.measure), {run.seed for run in part.missing}
    cells = []
    for seed in seeds:
        value = values.get(seed)
        cells.append(number(value, digits) if value is not None else MISSING if seed in absent else NOTHING)
    return cells


def aggregates(layout: TableLayout, results: Results, rival: str = "DiPRL") -> Table:
    """Interquartile means of normalised returns, and how likely the rival beats each line, over the tasks with runs."""
    rows = []
    for preset in results.presets:
        scores = {line.label: line_scores(line, results.having(preset=preset)) for line in layout.lines}
        for line in layout.lines:
            ours = scores[line.label]
            if not results.having(method=line.method, preset=preset).pairs:
                continue
            if not ours:
                rows.append((line.label, preset, MISSING, MISSING, "0"))
                continue
            rows.append(
                (
                    line.label,
                    preset,
                    estimate_text(interquartile_estimate(list(ours.values()))),
                    NOTHING if line.label == rival else improvement_text(scores.get(rival, {}), ours),
                    f"{len(ours)} of {len(results.tasks)}",
                )
            )
    heads = (layout.first_column, "preset", "interquartile mean", f"P({rival} is better)", "tasks")
    title = "Aggregates, with 95% intervals; 0 and 1 are the lowest and the highest mean in the paper's table"
    return Table(title, heads, tuple(rows))


def line_scores(line: Line, results: Results) -> dict[str, Sequence[float]]:
    """Normalised values by task, for tasks with at least one run."""
    part = results.having(method=line.method, variant=line.variant)
    found = {task: part.having(task=task).present(line.measure) for task in results.tasks}
    return {task: normalised(values, *published_range(task)).tolist() for task, values in found.items() if values}


def improvement_text(rival: dict[str, Sequence[float]], ours: dict[str, Sequence[float]]) -> str:
    shared = [task for task in ours if task in rival]
    if not shared:
        return MISSING
    return estimate_text(improvement_estimate([rival[task] for task in shared], [ours[task] for task in shared]))


def estimate_text(estimate: Estimate) -> str:
    return f"{number(estimate.value, 2)} [{number(estimate.low, 2)}, {number(estimate.high, 2)}]"


def markdown(table: Table) -> str:
    """The table as GitHub shows it, columns aligned in plain text too."""
    rows = [table.columns, *table.rows]
    widths = [max(3, *(len(row[index]) for row in rows)) for index in range(len(table.columns))]

    def text(row: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"

    ruler = text(["-" * width for width in widths])
    return "\n".join([text(table.columns), ruler, *(text(row) for row in table.rows)]) + "\n"


SPECIAL = {
    "&": r"\&",
    "%": r"\%",
    "_": r"\_",
    "#": r"\#",
    "±": r"$\pm$",
    "−": "$-$",
    "–": "--",
    "×": r"$\times$",
}
SPECIAL |= {"α": r"$\alpha$"}


def latex(table: Table) -> str:
    """The table as a `tabular` with its title as caption."""
    columns = "ll" + "r" * (len(table.columns) - 2)
    lines = [
        r"\begin{table}",
        rf"\caption{{{escaped(table.title)}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\hline",
    ]
    lines += [latex_row(table.columns), r"\hline", *(latex_row(row) for row in table.rows), r"\hline"]
    return "\n".join([*lines, r"\end{tabular}", r"\end{table}"]) + "\n"


def latex_row(row: Sequence[str]) -> str:
    return " & ".join(escaped(cell) for cell in row) + r" \\"


def escaped(text: str) -> str:
    return "".join(SPECIAL.get(character, character) for character in text)

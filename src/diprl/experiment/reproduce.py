"""From a name to a written report: do the runs that are missing, then make tables and figures from the records."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from diprl.errors import DiprlError
from diprl.experiment.executors import Executor, Failures
from diprl.experiment.figures import write_figures
from diprl.experiment.grid import Announce, Grid
from diprl.experiment.lines import LAYOUTS, TableLayout
from diprl.experiment.records import Store
from diprl.experiment.rescore import rescore, scored_on_twin
from diprl.experiment.results import Results, results_of
from diprl.experiment.suites import Request, Suite, requested_runs
from diprl.experiment.tables import Table, aggregates, comparison, latex, markdown, seed_points
from diprl.runs.result import command
from diprl.system.files import write_text

WITH_AGGREGATES = ("discrete", "continuous")


@dataclass(frozen=True)
class Report:
    """What one experiment gave, and where it is written."""

    folder: Path
    tables: tuple[Table, ...]
    results: Results
    text: str


def reproduce(
    suites: Sequence[Suite], request: Request, executor: Executor, out: Path, announce: Announce
) -> tuple[list[Report], Failures]:
    """Do all runs of some experiments and report each; runs that several of them share are done once."""
    wanted = requested_runs(suites, request)
    if not wanted:
        raise DiprlError("no experiment has both the tasks and the methods that were asked for")
    grid = Grid(out, tuple(run for _, runs in wanted for run in runs))
    failures = executor(grid, announce)
    rescore(grid, announce)
    records = grid.store.read()
    reports = [write_report(suite, results_of(runs, records), request, out, announce) for suite, runs in wanted]
    return reports, failures


def merge(out: Path, sources: Sequence[Path]) -> int:
    """Take over the records that another machine made; tells how many were new."""
    count = 0
    for source in sources:
        folder = source if source.is_dir() else source.parent
        if not Store(folder).path.exists():
            raise DiprlError(f"{source} holds no records.jsonl to merge")
        count += Store(out).extend(Store(folder).lines())
    return count


def write_report(suite: Suite, results: Results, request: Request, out: Path, announce: Announce) -> Report:
    """Markdown, LaTeX and figures of one experiment in a folder of its own."""
    folder = out / "-".join([suite.name, *request.presets])
    folder.mkdir(parents=True, exist_ok=True)
    layouts = LAYOUTS[suite.name]
    tables = tuple(comparison(layout, results) for layout in layouts)
    for layout, table in zip(layouts, tables, strict=True):
        write_text(folder / f"{layout.name}.tex", latex(table))
    figures: list[Path] = []
    try:
        figures = write_figures(suite.name, results, folder)
    except DiprlError as error:
        announce(f"no figures: {error}")
    text = report_text(suite, results, tables, layouts, figures)
    write_text(folder / "README.md", text)
    return Report(folder, tables, results, text)


def report_text(
    suite: Suite,
    results: Results,
    tables: Sequence[Table],
    layouts: Sequence[TableLayout],
    figures: Sequence[Path],
) -> str:
    """The page of an experiment."""
    parts = [f"# {suite.name}\n", heading(results)]
    for table in tables:
        parts.append(f"## {table.title}\n\n{markdown(table)}")
    if suite.name in WITH_AGGREGATES:
        table = aggregates(layouts[0], results)
        parts.append(f"## {table.title}\n\n{markdown(table)}")
    for figure in figures:
        if figure.suffix == ".svg":
            parts.append(f"![{figure.stem}]({figure.name})\n")
    for layout in layouts:
        table = seed_points(layout, results)
        parts.append(f"## {table.title}\n\n{markdown(table)}")
    return "\n".join(parts)


def heading(results: Results) -> str:
    """What the numbers are, what is missing, and how to make them again."""
    done, asked = len(results.done()), len(results.pairs)
    episodes = "/".join(str(count) for count in sorted({run.episodes for run, _ in results.pairs}))
    lines = [
        f"Mean ± standard deviation over seeds {', '.join(map(str, results.seeds))}; "
        f"preset {', '.join(results.presets)}; "
        f"{episodes} episodes on the reference environment per run; {done} of {asked} runs done.",
    ]
    if results.missing:
        lines.append("Missing: " + "; ".join(run.title for run in results.missing) + ".")
    on_twin = scored_on_twin(results.done())
    if on_twin:
        lines.append(f"{on_twin} runs are scored on the compiled twin only.")
    return "\n\n".join([*lines, f"Made by `{command()}`.\n"])

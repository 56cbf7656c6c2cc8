"""From a name to a written page: do the runs that are missing, then make tables and figures from the records."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from diprl.arena.score import TWIN
from diprl.errors import DiprlError
from diprl.experiment.executors import Executor, rescore
from diprl.experiment.figures import figures_of, write_figures
from diprl.experiment.grid import Announce, Failures, Grid
from diprl.experiment.records import Store
from diprl.experiment.request import Request
from diprl.experiment.results import Results, results_of
from diprl.experiment.suites import Suite, requested_runs
from diprl.experiment.tables import TABLES, aggregates, comparison, latex, markdown, seed_points
from diprl.system.files import write_text

WITH_AGGREGATES = ("discrete", "continuous")


class Report(NamedTuple):
    """What one experiment gave, and where it is written."""

    folder: Path
    results: Results
    text: str


def reproduce(
    suites: Sequence[Suite], request: Request, executor: Executor, announce: Announce
) -> tuple[list[Report], Failures]:
    """Do all runs of some experiments and report each; runs that several of them share are done once."""
    wanted = requested_runs(suites, request)
    if not wanted:
        raise DiprlError("no experiment has both the tasks and the methods that were asked for")
    grid = Grid(request.folder, tuple(run for _, runs in wanted for run in runs))
    failures = executor(grid, announce)
    rescore(grid, announce)
    records = grid.store.read()
    return [write_report(suite, results_of(runs, records), request, announce) for suite, runs in wanted], failures


def merge(out: Path, sources: Sequence[Path]) -> int:
    """Take over the records that another machine made; tells how many were new."""
    count = 0
    for source in sources:
        folder = source if source.is_dir() else source.parent
        if not Store(folder).path.exists():
            raise DiprlError(f"{source} holds no records.jsonl to merge")
        count += Store(out).extend(Store(folder).lines())
    return count


def write_report(suite: Suite, results: Results, request: Request, announce: Announce) -> Report:
    """Markdown, LaTeX and figures of one experiment in a folder of its own."""
    folder = request.folder / "-".join([suite.name, *request.presets])
    folder.mkdir(parents=True, exist_ok=True)
    for table in TABLES[suite.name]:
        write_text(folder / f"{table.name}.tex", latex(comparison(table, results)))
    figures: Iterable[str] = figures_of(suite.name, results)
    try:
        write_figures(suite.name, results, folder)
    except DiprlError as error:
        announce(f"no figures: {error}")
        figures = ()
    text = page(suite, results, request, figures)
    write_text(folder / "README.md", text)
    return Report(folder, results, text)


def page(suite: Suite, results: Results, request: Request, figures: Iterable[str]) -> str:
    """The page of an experiment, with the figures of these names."""
    planned = TABLES[suite.name]
    tables = [comparison(table, results) for table in planned]
    tables += [aggregates(planned[0], results)] if suite.name in WITH_AGGREGATES else []
    every_seed = [seed_points(table, results) for table in planned]
    before, after = ([f"## {table.title}\n\n{markdown(table)}" for table in part] for part in (tables, every_seed))
    images = [f"![{name}]({name}.svg)\n" for name in figures]
    made_by = f"Made by `{request.command(suite.name)}`.\n"
    return "\n".join([f"# {suite.name}\n", *heading(results), made_by, *before, *images, *after])


def heading(results: Results) -> list[str]:
    """What the numbers are, and what is missing."""
    done, asked = len(results.done), len(results.pairs)
    lines = [
        f"Mean ± standard deviation over seeds {', '.join(map(str, results.seeds))}; "
        f"preset {', '.join(results.presets)}; "
        f"{'/'.join(map(str, sorted(results.distinct('episodes'))))} episodes on the reference environment per run; "
        f"{done} of {asked} runs done.\n"
    ]
    if results.missing:
        lines.append("Missing: " + "; ".join(run.title for run in results.missing) + ".\n")
    on_twin = sum(result.score.environment == TWIN for result in results.done)
    if on_twin:
        lines.append(f"{on_twin} runs are scored on the compiled twin only.\n")
    return lines

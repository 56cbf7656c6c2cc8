"""From a name to a written page: do the runs that are missing, then make tables and figures from the records."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from diprl.arena.score import TWIN
from diprl.errors import DiprlError
from diprl.experiment.executors import Executor, rescore
from diprl.experiment.figures import FIGURES, write_figures
from diprl.experiment.grid import Announce, Failures, Grid, Record, Store
from diprl.experiment.request import Request
from diprl.experiment.results import Results, results_of
from diprl.experiment.suites import Suite, requested_runs
from diprl.experiment.tables import TABLES, aggregates, between, comparison, latex, markdown, seed_points
from diprl.system.files import write_text

WITH_AGGREGATES = ("discrete", "seeds", "continuous")
MOST_SEEDS = 12
"""Of more, a page does not show each one."""


class Page(NamedTuple):
    """What one experiment gave."""

    suite: Suite
    request: Request
    """With the preset that the page is about; None where it compares several."""
    results: Results
    text: str = ""

    @property
    def folder(self) -> Path:
        return self.request.folder / "-".join([self.suite.name, *filter(None, [self.request.preset])])


def pages(suite: Suite, request: Request, records: Mapping[str, Record]) -> list[Page]:
    """One page for all presets where an experiment compares them, else one for each; all methods are on it."""
    told = [replace(request, preset=each, methods=None) for each in ([None] if suite.presets else request.presets)]
    return [Page(suite, each, results_of(suite.runs(each), records)) for each in told]


def reproduce(
    suites: Sequence[Suite], request: Request, executor: Executor, announce: Announce
) -> tuple[list[Page], Failures]:
    """Do all runs of some experiments and write their pages; runs that several of them share are done once.

    A page without any result is not written beside others that have some.
    """
    wanted = requested_runs(suites, request)
    if not wanted:
        raise DiprlError("no experiment has both the tasks and the methods that were asked for")
    grid = Grid(request.folder, tuple(run for _, runs in wanted for run in runs))
    failures = executor(grid, announce)
    rescore(grid, announce)
    records = grid.store.read()
    told = [page for suite, _ in wanted for page in pages(suite, request, records)]
    return [write_page(page, announce) for page in [page for page in told if page.results.done] or told], failures


def merge(out: Path, sources: Sequence[Path]) -> int:
    """Take over the records that another machine made; tells how many were new."""
    count = 0
    for source in sources:
        folder = source if source.is_dir() else source.parent
        if not Store(folder).path.exists():
            raise DiprlError(f"{source} holds no records.jsonl to merge")
        count += Store(out).extend(Store(folder).lines())
    return count


def write_page(page: Page, announce: Announce) -> Page:
    """Markdown, LaTeX and figures of one experiment in a folder of its own."""
    suite, folder, results = page.suite.name, page.folder, page.results
    folder.mkdir(parents=True, exist_ok=True)
    for table in TABLES[suite]:
        write_text(folder / f"{table.name}.tex", latex(comparison(table, results)))
    figures: Iterable[str] = FIGURES[suite]
    try:
        write_figures(suite, results, folder)
    except DiprlError as error:
        announce(f"no figures: {error}")
        figures = ()
    text = page_text(page, figures)
    write_text(folder / "README.md", text)
    return page._replace(text=text)


def page_text(page: Page, figures: Iterable[str]) -> str:
    """The page of an experiment, with the figures of these names."""
    suite, results, planned = page.suite.name, page.results, TABLES[page.suite.name]
    tables = [comparison(table, results) for table in planned]
    tables += [aggregates(planned[0], results)] if suite in WITH_AGGREGATES else []
    tables += [between(planned[0], results)] if page.suite.budgets else []
    every_seed = [seed_points(table, results) for table in planned if len(results.seeds) <= MOST_SEEDS]
    before, after = ([f"## {table.title}\n\n{markdown(table)}" for table in part] for part in (tables, every_seed))
    images = [f"![{name}]({name}.svg)\n" for name in figures]
    made_by = f"Made by `{page.request.command(suite)}`.\n"
    return "\n".join([f"# {suite}\n", heading(results), made_by, *before, *images, *after])


def heading(results: Results) -> str:
    """What the numbers are, and how many are missing."""
    done, asked = len(results.done), len(results.pairs)
    missing = f", {asked - done} missing" if done < asked else ""
    on_twin = sum(result.score.environment == TWIN for result in results.done)
    twin = f"; {on_twin} runs are scored on the compiled twin only" if on_twin else ""
    return (
        f"Mean ± standard deviation over {seeds_text(results)}; preset {', '.join(results.presets)}; "
        f"{'/'.join(map(str, sorted(results.distinct('episodes'))))} episodes on the reference environment per run; "
        f"{done} of {asked} runs done{missing}{twin}.\n"
    )


def seeds_text(results: Results) -> str:
    """The seeds by name where they are few; how many on which task where that differs."""
    seeds = results.seeds
    if len(seeds) <= MOST_SEEDS:
        return f"seeds {', '.join(map(str, seeds))}"
    fewer = {task: len(results.having(task=task).seeds) for task in results.tasks}
    exceptions = [f"{count} on {task}" for task, count in fewer.items() if count < len(seeds)]
    return ", ".join([f"{len(seeds)} seeds from {min(seeds)} to {max(seeds)}", *exceptions])

"""What commands print: programs, results, depths, tasks, findings, the steps of a simplification."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from diprl.program import Program
from diprl.program.text_format import format_body
from diprl.runs.result import Depth, Result

SHOWN_DIGITS = 3


def plain_console(**options: Any) -> Console:
    """A console that prints [brackets] and :names: as they are: paths and names are the user's, not markup."""
    return Console(markup=False, emoji=False, **options)


def plain_table(*columns: str, **options: Any) -> Table:
    """An empty table without lines."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, **options)
    return table


def body(program: Program) -> str:
    """The program without its header."""
    return "\n".join(format_body(program.signature, program.root))


def highlighted(program: Program) -> Syntax:
    """The program in colour."""
    return Syntax(body(program), "python", theme="ansi_dark", background_color="default", word_wrap=True)


def rounded(program: Program) -> Syntax:
    """The program in colour with few digits, for a quick look while it still changes."""
    return highlighted(program.rounded(SHOWN_DIGITS))


def print_program(console: Console, program: Program) -> None:
    """In colour for a person; line by line as it is for a file or another program."""
    if console.is_terminal:
        console.print(highlighted(program))
    else:
        console.file.write(body(program) + "\n")
    console.print()


def depth_table(rows: Sequence[Depth]) -> Table:
    """One row per depth, an arrow at the pick."""
    table = plain_table("", "depth", "conditions", "numbers", "score", "gap", justify="right")
    for row in rows:
        sizes = map(str, (row.depth, row.conditions, row.coefficients))
        table.add_row("→" if row.picked else "", *sizes, f"{row.score:.2f}", f"{row.gap:.2f}")
    return table


def result_table(result: Result, title: str) -> str:
    """A result in a few lines: what it is, how it was trained, and its depths."""
    console, spec = plain_console(width=100, force_terminal=False, no_color=True), result.spec
    with console.capture() as capture:
        console.print(f"{title} on {spec.task}, seed {spec.seed}, {result.total_steps:,} steps", soft_wrap=True)
        if result.depths:
            console.print(depth_table(result.depths))
    return capture.get().rstrip()


def print_result(result: Result, folder: Path | None) -> None:
    """The end of `diprl train`: the program as it runs, its score, what hardening cost, the depths, and the files."""
    console, gap = plain_console(), result.gap
    console.rule(f"{result.spec.task}, seed {result.spec.seed}")
    if result.program is not None:
        print_program(console, result.program)
    console.print(f"score    {result.score}", soft_wrap=True)
    if gap is not None:
        parts = f"architecture {gap.architecture:.2f}, condition {gap.condition:.2f}, terminal {gap.terminal:.2f}"
        total = f"{gap.relaxed:.2f}, gap {gap.total:.2f} ({parts}), entropy {abs(gap.entropy):.4f}"
        console.print(f"relaxed  {total}", soft_wrap=True)
    console.print(f"trained  {result.total_steps:,} environment steps, {result.wall_seconds:.1f} s in all")
    if result.depths:
        console.print(depth_table(result.depths))
    if folder:
        console.print(f"files    {folder}", soft_wrap=True)


def print_tasks(rows: list[dict[str, Any]]) -> None:
    """The built-in tasks, and for one that cannot be made here, why."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("task", "features", "actions", "backend", "horizon", "budget", "paper"):
        table.add_column(name, overflow="fold", no_wrap=name not in ("features", "actions"))
    for row in rows:
        if "missing" in row:
            table.add_row(row["task"], Text(row["missing"], style="yellow"))
            continue
        paper = "" if row["paper_score"] is None else f"{row['paper_score']:g}"
        lists = (", ".join(row["features"]), ", ".join(row["actions"]))
        table.add_row(row["task"], *lists, row["backend"], str(row["horizon"]), f"{row['budget']:,}", paper)
    plain_console().print(table)


def print_findings(findings: dict[str, Any]) -> None:
    """What `diprl doctor` found."""
    console, test = plain_console(), findings["self_test"]
    console.print(f"diprl {findings['diprl']}, Python {findings['python']}, {', '.join(findings['devices'])}")
    for title in ("packages", "tasks"):
        table = plain_table(title, "")
        for row in findings[title].items():
            table.add_row(*row)
        console.print(table)
    console.print(f"self-test {'passed' if test['passed'] else 'FAILED'} in {test['seconds']} s")


STAGE_COLUMNS = f"{'conditions':>10} {'numbers':>8} {'score':>9}  step"


def print_stage(stage: Any) -> None:
    """Size against score of one accepted step of a simplification, as soon as it is known."""
    sizes = f"{stage.program.conditions:>10} {stage.program.coefficients:>8}"
    print(f"{sizes} {stage.score:>9.2f}  {stage.what}", flush=True)

"""What a person sees in the terminal: live progress, then the program, its score and the table of depths."""

import sys
from threading import Lock
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.syntax import Syntax
from rich.table import Table

from diprl.program import Program
from diprl.train.snapshot import Snapshot

if TYPE_CHECKING:
    from diprl.model import Model

SHOWN_DIGITS = 3


class Display:
    """Live progress of one or several runs on standard error: a bar per seed, latest program, score and entropy."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self.bars = Progress(
            TextColumn("seed {task.fields[seed]}"),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f}%  {task.fields[figures]}"),
            TimeRemainingColumn(),
            console=self.console,
        )
        self.tasks: dict[int, Any] = {}
        self.live = Live(console=self.console, refresh_per_second=4, transient=True)
        self.printed: dict[int, int] = {}
        self.lock = Lock()

    def __call__(self, snapshot: Snapshot) -> None:
        with self.lock:  # seeds train in threads of their own
            show = self.show if self.console.is_terminal else self.print_line
            show(snapshot)

    def show(self, snapshot: Snapshot) -> None:
        if not self.live.is_started:
            self.live.start()
        if snapshot.seed not in self.tasks:
            self.tasks[snapshot.seed] = self.bars.add_task(
                "", total=snapshot.total_steps, seed=snapshot.seed, figures=""
            )
        self.bars.update(self.tasks[snapshot.seed], completed=snapshot.steps, figures=figures(snapshot))
        parts: list[Any] = [self.bars]
        if snapshot.program is not None:
            parts += [
                "[dim]current program, numbers rounded[/dim]",
                highlighted(body(rounded(snapshot.program))),
            ]
        self.live.update(Group(*parts))
        if snapshot.steps >= snapshot.total_steps and self.bars.finished:
            self.live.stop()

    def print_line(self, snapshot: Snapshot) -> None:
        """One plain line for every tenth of the run."""
        tenth = int(10 * snapshot.fraction)
        if tenth > self.printed.get(snapshot.seed, 0):
            self.printed[snapshot.seed] = tenth
            print(f"seed {snapshot.seed}: {10 * tenth:3d}%  {figures(snapshot)}", file=sys.stderr, flush=True)

    def stop(self) -> None:
        with self.lock:
            self.live.stop()

    def __enter__(self) -> "Display":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def figures(snapshot: Snapshot) -> str:
    metrics = snapshot.metrics
    shown = f"{snapshot.steps:,} steps  program {metrics['eval/program']:.2f}  relaxed {metrics['eval/relaxed']:.2f}"
    if "train/prog_depth_2_prob" in metrics:
        shown += f"  entropy {abs(metrics['train/architecture_entropy']):.4f}"
    return f"{shown}  {metrics['time/fps']:,.0f} steps/s"


def body(program: Program) -> str:
    """The program without its header."""
    from diprl.program.text_format import format_body

    return "\n".join(format_body(program.signature, program.root))


def rounded(program: Program) -> Program:
    from diprl.program.rounding import round_program

    return round_program(program, SHOWN_DIGITS)


def highlighted(text: str) -> Syntax:
    return Syntax(text, "python", theme="ansi_dark", background_color="default", word_wrap=True)


def depth_rows(rows: list[dict[str, Any]]) -> Table:
    """One row per depth, an arrow at the pick."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", "depth", "conditions", "numbers", "score", "gap"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            "→" if row["picked"] else "",
            str(row["depth"]),
            str(row["conditions"]),
            str(row["coefficients"]),
            f"{row['score']:.2f}",
            f"{row['gap']:.2f}",
        )
    return table


def model_table(model: "Model") -> str:
    """A learnt model in a few lines: what it is, how it was trained, and its depths."""
    console = Console(width=100, file=None, force_terminal=False, no_color=True)
    outcome = model.outcome
    with console.capture() as capture:
        console.print(
            f"{type(model).__name__} on {model.task.name}, seed {model.seed}, {outcome.steps:,} steps"
        )
        if "depths" in outcome.facts:
            console.print(depth_rows(outcome.facts["depths"]))
    return capture.get().rstrip()


def print_finished(finished: Any) -> None:
    """The end of `diprl train`: the program as it runs, its score, what hardening cost, the depths, and the files."""
    console = Console()
    outcome, plan = finished.outcome, finished.plan
    console.rule(f"{plan.task.name}, seed {plan.seed}")
    if outcome.program is not None:
        print_program(console, outcome.program)
    console.print(f"score    {finished.score}")
    gap = outcome.facts.get("gap")
    if gap:
        parts = ", ".join(f"{part} {gap[part]:.2f}" for part in ("architecture", "condition", "terminal"))
        console.print(
            f"relaxed  {gap['relaxed']:.2f}, gap {gap['total']:.2f} ({parts}), entropy {abs(gap['entropy']):.4f}"
        )
    console.print(f"trained  {outcome.steps:,} environment steps, {finished.wall_seconds:.1f} s in all")
    if "depths" in outcome.facts:
        console.print(depth_rows(outcome.facts["depths"]))
    if plan.folder:
        console.print(f"files    {plan.folder}")


def print_program(console: Console, program: Program) -> None:
    """In colour for a person; line by line as it is for a file or another program."""
    if console.is_terminal:
        console.print(highlighted(body(program)))
    else:
        console.file.write(body(program) + "\n")
    console.print()


def print_tasks(rows: list[dict[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("task", "features", "actions", "backend", "horizon", "budget", "paper"):
        table.add_column(name, overflow="fold", no_wrap=name not in ("features", "actions"))
    for row in rows:
        if "missing" in row:
            table.add_row(row["task"], f"[yellow]{row['missing']}[/yellow]", "", "", "", "", "")
            continue
        paper = "" if row["paper_score"] is None else f"{row['paper_score']:g}"
        lists = (", ".join(row["features"]), ", ".join(row["actions"]))
        table.add_row(row["task"], *lists, row["backend"], str(row["horizon"]), f"{row['budget']:,}", paper)
    Console().print(table)


STAGE_COLUMNS = f"{'conditions':>10} {'numbers':>8} {'score':>9}  step"


def print_stage(stage: Any) -> None:
    """Size against score of one accepted step of a simplification, as soon as it is known."""
    print(f"{stage.conditions:>10} {stage.coefficients:>8} {stage.score:>9.2f}  {stage.what}", flush=True)

"""Live progress of runs."""

import sys
from threading import Lock
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from diprl.runs.observers import Snapshot
from diprl.terminal.printing import plain_console, rounded


class Display:
    """Live progress of one or several runs on standard error: a bar per seed, latest program, score and entropy."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or plain_console(stderr=True)
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
            fields = {"seed": snapshot.seed, "figures": ""}
            self.tasks[snapshot.seed] = self.bars.add_task("", total=snapshot.total_steps, **fields)
        self.bars.update(self.tasks[snapshot.seed], completed=snapshot.steps, figures=figures(snapshot))
        parts: list[Any] = [self.bars]
        if snapshot.program is not None:
            parts += [Text("current program, numbers rounded", style="dim"), rounded(snapshot.program)]
        self.live.update(Group(*parts))
        if snapshot.steps >= snapshot.total_steps and self.bars.finished:
            self.live.stop()

    def print_line(self, snapshot: Snapshot) -> None:
        """One plain line for every tenth of the run."""
        tenth = int(10 * snapshot.fraction)
        if tenth > self.printed.get(snapshot.seed, 0):
            self.printed[snapshot.seed] = tenth
            print(f"seed {snapshot.seed}: {10 * tenth:3d}%  {figures(snapshot)}", file=sys.stderr, flush=True)

    def __enter__(self) -> "Display":
        return self

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.live.stop()


def figures(snapshot: Snapshot) -> str:
    metrics = snapshot.metrics
    shown = f"{snapshot.steps:,} steps  program {metrics['eval/program']:.2f}  relaxed {metrics['eval/relaxed']:.2f}"
    if "train/prog_depth_2_prob" in metrics:
        shown += f"  entropy {abs(metrics['train/architecture_entropy']):.4f}"
    return f"{shown}  {metrics['time/fps']:,.0f} steps/s"

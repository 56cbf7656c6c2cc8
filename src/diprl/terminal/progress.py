"""What moves while a command works: a line for any work, bars for trainings. All of it on standard error."""

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Self, TypeVar

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from diprl.errors import visible
from diprl.terminal.layout import plain_console

if TYPE_CHECKING:
    from diprl.runs.observers import Snapshot

Item = TypeVar("Item")
BAR = 16
"""Characters of a bar."""
NETWORKS = ("ppo", "viper")
"""Methods that train a network."""


class Working:
    """What is being done, a bar, and the time it has taken; nothing where nobody watches."""

    def __init__(self, title: str, console: Console | None = None) -> None:
        self.console = console or plain_console(stderr=True)
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(BAR))
        self.bar = Progress(*columns, TimeElapsedColumn(), console=self.console)
        self.task = self.bar.add_task(visible(title), total=None)
        self.done = Event()
        self.live = Live(self.bar, console=self.console, refresh_per_second=8, transient=True, redirect_stdout=False)

    def show(self, title: str | None = None, fraction: float | None = None) -> None:
        """Say what is being done now, and how much of it is."""
        if title is not None:
            self.bar.update(self.task, description=visible(title))
        if fraction is not None:
            self.bar.update(self.task, total=1.0, completed=min(0.99, fraction))  # a full bar would stand still

    def each(self, items: Sequence[Item]) -> Iterator[Item]:
        """The items one by one, the bar growing with them."""
        for number, item in enumerate(items):
            self.show(fraction=number / len(items))
            yield item

    def follow(self, look: Callable[[], tuple[str, float]]) -> None:
        """Ask every other second what to show, for as long as the line moves."""

        def ask() -> None:
            while not self.done.wait(2.0):
                self.show(*look())

        if self.console.is_terminal:
            Thread(target=ask, daemon=True, name="progress").start()

    def line(self, text: str) -> None:
        """A line that stays, above what moves."""
        self.console.print(Text(visible(text)), soft_wrap=True)

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self.live.start(refresh=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.live.stop()


class Display(Working):
    """Progress of one or several trainings: a bar per seed with the time left, and the latest program."""

    def __init__(self, console: Console | None = None) -> None:
        super().__init__("starting …", console)
        done = (TextColumn("seed {task.fields[seed]}"), BarColumn(BAR), TextColumn("{task.percentage:>3.0f}%"))
        told = (TimeRemainingColumn(), TextColumn("{task.fields[figures]}", markup=False))
        self.bars = Progress(*done, *told, console=self.console)
        self.tasks: dict[int, Any] = {}
        self.printed: dict[int, int] = {}
        self.lock = Lock()

    def __call__(self, snapshot: "Snapshot") -> None:
        with self.lock:  # seeds train in threads of their own
            tell = self.draw if self.console.is_terminal else self.print_line
            tell(snapshot)

    def draw(self, snapshot: "Snapshot") -> None:
        if snapshot.seed not in self.tasks:
            fields = {"seed": snapshot.seed, "figures": ""}
            self.tasks[snapshot.seed] = self.bars.add_task("", total=snapshot.total_steps, **fields)
        room = self.console.width - len(f"seed {snapshot.seed} {BAR * '━'} 100% 0:00:00 ")
        self.bars.update(self.tasks[snapshot.seed], completed=snapshot.steps, figures=fitting(figures(snapshot), room))
        parts: list[Any] = [self.bars]
        if self.bars.finished:
            self.show("searching and scoring …")
            parts.append(self.bar)
        if snapshot.program is not None:
            from diprl.terminal.printing import SHOWN_DIGITS, highlighted

            title = Text("current program, numbers rounded", style="dim")
            parts += [title, highlighted(snapshot.program.rounded(SHOWN_DIGITS), self.console)]
        self.live.update(Group(*parts))

    def print_line(self, snapshot: "Snapshot") -> None:
        """One plain line for every tenth of the run."""
        tenth = int(10 * snapshot.fraction)
        if tenth > self.printed.get(snapshot.seed, 0):
            self.printed[snapshot.seed] = tenth
            line = f"seed {snapshot.seed}: {10 * tenth:3d}%  {'  '.join(figures(snapshot))}"
            print(line, file=sys.stderr, flush=True)


def figures(snapshot: "Snapshot") -> list[str]:
    """What a line of progress says, the most important first."""
    metrics, score = snapshot.metrics, f"{snapshot.metrics['eval/program']:.2f}"
    if snapshot.method in NETWORKS:
        shown = [f"network {score}"]
    else:
        shown = [f"program {score}", f"relaxed {metrics['eval/relaxed']:.2f}"]
    shown += [f"{snapshot.steps:,} steps", f"{metrics['time/fps']:,.0f} steps/s"]
    if "train/prog_depth_2_prob" in metrics:
        shown.append(f"entropy {abs(metrics['train/architecture_entropy']):.4f}")
    return shown


def fitting(parts: list[str], room: int) -> str:
    """As many of the parts as there is room for; none is cut.

    >>> fitting(["program 500.00", "relaxed 499.00"], 20)
    'program 500.00'
    """
    longer = accumulate(parts, "{}  {}".format)
    return max((text for text in longer if len(text) <= room), key=len, default="")

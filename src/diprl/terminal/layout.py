"""Text that fits the terminal: tables that put columns under their row where there is no room, and lines that wrap."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import TextWrapper
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from diprl.errors import visible

LABEL = 9
"""Characters that the label of a line takes."""
BETWEEN = 2
"""Spaces between columns."""


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    below: bool = False
    """Where the table is too wide, this goes under the row, on a line of its own."""
    left: bool = False
    """Words begin in one line; numbers end in one."""


def plain_console(**options: Any) -> Console:
    """A console that prints [brackets] and :names: as they are: paths and names are the user's, not markup."""
    return Console(markup=False, emoji=False, **options)


def say(text: object = "", console: Console | None = None) -> None:
    """Print text for people: wrapped between words in a terminal, line by line as it is elsewhere."""
    console = console or plain_console(highlight=False)
    for line in visible(str(text)).split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        for part in fitted(line, console, indent):
            console.print(Text(part), soft_wrap=True)


def say_labelled(label: str, text: object, console: Console | None = None, room: int = LABEL) -> None:
    """A line that begins with a word and goes on under itself."""
    console = console or plain_console(highlight=False)
    for part in fitted(f"{label:{room}}{visible(str(text))}", console, " " * room):
        console.print(Text(part), soft_wrap=True)


def fitted(line: str, console: Console, indent: str) -> list[str]:
    """The parts of a line that fit a terminal; a word that is too long for it stays whole."""
    if not console.is_terminal or cell_len(line) <= console.width:
        return [line]
    begins = line[: len(line) - len(line.lstrip())]
    whole_words = TextWrapper(
        console.width, initial_indent=begins, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return whole_words.wrap(line.lstrip())


def print_table(columns: Sequence[Column], rows: Iterable[Mapping[str, Any]], console: Console | None = None) -> None:
    """A table without lines; numbers are never cut: where there is no room, columns go under their row."""
    console = console or plain_console(highlight=False)
    cells = [[cell(row.get(column.name)) for column in columns] for row in rows]
    widths = [max(map(cell_len, texts)) for texts in zip([each.name for each in columns], *cells, strict=True)]
    kept = list(range(len(columns)))
    if total(widths, kept) > console.width:
        kept = [index for index in kept if not columns[index].below]
    while len(kept) > 1 and total(widths, kept) > console.width:
        kept.pop()
    under = sorted(set(range(len(columns))) - set(kept))
    room = max((len(columns[index].name) for index in under), default=0) + 2 * BETWEEN
    for number, row in enumerate([[each.name for each in columns], *cells]):
        line = (" " * BETWEEN).join(aligned(row[index], widths[index], columns[index].left) for index in kept)
        console.print(Text(line.rstrip(), style="" if number else "bold"), soft_wrap=True)
        for index in under if number else ():
            if row[index]:
                say_labelled(f"{' ' * BETWEEN}{columns[index].name}", row[index], console, room)


def cell(value: Any) -> str:
    """A value as a table shows it; empty where there is none."""
    match value:
        case None:
            return ""
        case float():
            return f"{value:.2f}"
        case list():
            return ", ".join(map(cell, value))
        case _:
            return visible(f"{value:,}" if isinstance(value, int) else str(value))


def total(widths: Sequence[int], kept: Sequence[int]) -> int:
    return sum(widths[index] + BETWEEN for index in kept) - BETWEEN


def aligned(text: str, width: int, left: bool) -> str:
    space = " " * (width - cell_len(text))
    return text + space if left else space + text

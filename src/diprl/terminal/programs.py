"""What everything in a terminal is printed with, and programs as it shows them."""

from typing import Any

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from diprl.program import Program
from diprl.program.text_format import format_body

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

"""Programs as a terminal shows them."""

from rich.console import Console
from rich.syntax import Syntax

from diprl.program import Program
from diprl.program.rounding import round_program
from diprl.program.text_format import format_body

SHOWN_DIGITS = 3


def body(program: Program) -> str:
    """The program without its header."""
    return "\n".join(format_body(program.signature, program.root))


def highlighted(program: Program) -> Syntax:
    """The program in colour."""
    return Syntax(body(program), "python", theme="ansi_dark", background_color="default", word_wrap=True)


def rounded(program: Program) -> Syntax:
    """The program in colour with few digits, for a quick look while it still changes."""
    return highlighted(round_program(program, SHOWN_DIGITS))


def print_program(console: Console, program: Program) -> None:
    """In colour for a person; line by line as it is for a file or another program."""
    if console.is_terminal:
        console.print(highlighted(program))
    else:
        console.file.write(body(program) + "\n")
    console.print()

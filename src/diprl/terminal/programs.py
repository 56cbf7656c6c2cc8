"""Programs as a terminal shows them."""

from rich.console import Console
from rich.syntax import Syntax

from diprl.program import Program

SHOWN_DIGITS = 3


def body(program: Program) -> str:
    """The program without its header."""
    from diprl.program.text_format import format_body

    return "\n".join(format_body(program.signature, program.root))


def rounded(program: Program) -> Program:
    return program.rounded(SHOWN_DIGITS)


def highlighted(text: str) -> Syntax:
    return Syntax(text, "python", theme="ansi_dark", background_color="default", word_wrap=True)


def print_program(console: Console, program: Program) -> None:
    """In colour for a person; line by line as it is for a file or another program."""
    if console.is_terminal:
        console.print(highlighted(body(program)))
    else:
        console.file.write(body(program) + "\n")
    console.print()

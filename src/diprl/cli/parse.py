"""Arguments to options; whatever the user got wrong becomes one sentence."""

from contextlib import redirect_stderr
from dataclasses import fields, is_dataclass
from io import StringIO
from typing import Any, get_type_hints

import tyro

from diprl.errors import DiprlError, unknown

BOX = "╭╮╰╯│─ \n"
"""What surrounds the parser's own messages."""


def parse(command: type, name: str, arguments: list[str]) -> Any:
    """The command's options, or an error that names the nearest option."""
    said = StringIO()
    try:
        with redirect_stderr(said):
            options, left = tyro.cli(
                command,
                prog=f"diprl {name}",
                args=arguments,
                description=command.__doc__,
                return_unknown_args=True,
            )
    except SystemExit as stopped:
        if not stopped.code:
            raise
        raise DiprlError(f"{first_paragraph(said.getvalue())} (see diprl {name} --help)") from None
    if left:
        raise leftover(command, left[0])
    return options


def first_paragraph(message: str) -> str:
    """What a boxed message says before it goes into details, in one line."""
    lines = [line.strip(BOX) for line in message.splitlines()[1:]]
    ends = [index for index, line in enumerate(lines) if not line]
    return " ".join(" ".join(lines[: ends[0]] if ends else lines).split()).rstrip(".")


def leftover(command: type, argument: str) -> DiprlError:
    """An argument that nobody asked for."""
    if argument.startswith("-"):
        return unknown("option", argument.partition("=")[0], option_names(command))
    return DiprlError(f"unexpected argument '{argument}': options begin with --")


def option_names(command: Any) -> list[str]:
    """Every option of a command, those of nested groups included."""
    names, kinds = [], get_type_hints(command)
    for item in fields(command):
        if is_dataclass(kinds[item.name]):
            names += option_names(kinds[item.name])
        else:
            names.append("--" + item.name.replace("_", "-"))
    return names

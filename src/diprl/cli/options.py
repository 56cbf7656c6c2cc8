"""Options: those that several commands share, settings as options, and the parser behind them."""

import ast
import inspect
import json
from contextlib import redirect_stderr
from dataclasses import dataclass, field, fields, is_dataclass, make_dataclass
from io import StringIO
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import tyro

from diprl.errors import DiprlError, unknown

if TYPE_CHECKING:
    from diprl.program import Program
    from diprl.tasks.base import Task

BOX = "╭╮╰╯│─ \n"
"""What surrounds the parser's own messages."""


@dataclass(frozen=True, kw_only=True)
class JSONOption:
    """A command that can speak to another program."""

    json: bool = False
    """Print one JSON object, as the last line or instead of text."""

    def print_json(self, **content: Any) -> None:
        """Print the object if it was asked for."""
        if self.json:
            print(json.dumps(content))


@dataclass(frozen=True, kw_only=True)
class EnvironmentOptions:
    """A command that makes an environment."""

    env_kwargs: str = "{}"
    """Keyword arguments of the environment, as a JSON object."""

    def parsed_env_kwargs(self) -> dict[str, Any]:
        try:
            values = json.loads(self.env_kwargs)
        except ValueError:
            values = None
        if not isinstance(values, dict):
            raise DiprlError(f"--env-kwargs must be a JSON object, not {self.env_kwargs!r}")
        return values


@dataclass(frozen=True, kw_only=True)
class ProgramCommand:
    """A command about a saved program."""

    program: Annotated[Path, tyro.conf.Positional]
    """A run folder or a program file."""

    def load_program(self) -> "Program":
        from diprl.runs.folder import load_program

        return load_program(self.program)


@dataclass(frozen=True, kw_only=True)
class PlayCommand(EnvironmentOptions, ProgramCommand):
    """A command that plays a saved program."""

    task: str | None = None
    """The environment; default: the one the program was learnt on."""

    def load(self) -> tuple["Program", "Task"]:
        from diprl.runs.folder import task_of

        program = self.load_program()
        return program, task_of(self.program, program, self.task, self.parsed_env_kwargs())


def check_at_least(command: Any, **least: float) -> None:
    """Refuse options that are too small."""
    for name, bound in least.items():
        if getattr(command, name) < bound:
            raise DiprlError(f"--{name} must be at least {bound}, not {getattr(command, name)}")


def optional_fields(settings: type) -> type:
    """A record of the same fields, each None unless the user gives it, with their docstrings as help."""
    texts, items = field_docstrings(settings), []
    for item in fields(settings):
        kind: Any = item.type
        shown = tyro.conf.arg(
            help=texts.get(item.name, ""), metavar=kind.__name__.upper(), help_behavior_hint="(default: the preset's)"
        )
        items.append((item.name, Annotated[kind | None, shown], field(default=None)))
    return make_dataclass("Settings", items, frozen=True)


def field_docstrings(settings: type) -> dict[str, str]:
    """The docstring under each field; fields in a row without one share the next."""
    body = ast.parse(dedent(inspect.getsource(settings))).body[0]
    texts: dict[str, str] = {}
    waiting: list[str] = []
    for statement in getattr(body, "body", []):
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name)):
                waiting.append(name)
            case ast.Expr(value=ast.Constant(value=str(text))):
                texts |= dict.fromkeys(waiting, text)
                waiting = []
    return texts


def parse(command: type, name: str, arguments: list[str]) -> Any:
    """The command with its options, or an error in one sentence that names the nearest option."""
    said = StringIO()
    try:
        with redirect_stderr(said):
            options, left = tyro.cli(
                command, prog=f"diprl {name}", args=arguments, description=command.__doc__, return_unknown_args=True
            )
    except SystemExit as stopped:
        if not stopped.code:
            raise
        raise DiprlError(f"{first_paragraph(said.getvalue())} (see diprl {name} --help)") from None
    if not left:
        return options
    if left[0].startswith("-"):
        raise unknown("option", left[0].partition("=")[0], option_names(command))
    raise DiprlError(f"unexpected argument '{left[0]}': options begin with --")


def first_paragraph(message: str) -> str:
    """What a boxed message says before it goes into details, in one line."""
    lines = [line.strip(BOX) for line in message.splitlines()[1:]]
    ends = [index for index, line in enumerate(lines) if not line]
    return " ".join(" ".join(lines[: ends[0]] if ends else lines).split()).rstrip(".")


def option_names(command: Any) -> list[str]:
    """Every option of a command, those of nested groups included."""
    names, kinds = [], get_type_hints(command)
    for item in fields(command):
        nested = is_dataclass(kinds[item.name])
        names += option_names(kinds[item.name]) if nested else ["--" + item.name.replace("_", "-")]
    return names

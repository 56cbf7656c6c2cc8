"""Options: those that several commands share, settings as options, and the parser behind them."""

import ast
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, fields, is_dataclass, make_dataclass
from io import StringIO
from itertools import groupby
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import tyro

from diprl.errors import DiprlError, unknown

if TYPE_CHECKING:
    from diprl.program import Program
    from diprl.tasks.base import Task

BOX = "╭╮╰╯│─ \n"
"""What surrounds the parser's own messages."""
DOCUMENTS: list[str] = []
"""What waits to be printed when the command ends."""


def shown(metavar: str, hint: str | None = "") -> Any:
    """How help shows an option; the hint says what holds where it is not given, None leaves that to the parser."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint=hint)


def one_of(*names: str) -> Any:
    """How help shows an option with few choices; the command refuses others, with the nearest of these."""
    return tyro.conf.arg(metavar="{" + ",".join(names) + "}")


def number(kind: Callable[[float], float]) -> Any:
    """How a number is read: as people write it, such as 1e6, or with a sentence that says what was found instead."""
    wanted = "a whole number such as 200000 or 2e5" if kind is int else "a number such as 0.01 or 1e-2"

    def read(texts: list[str]) -> float:
        try:
            found = float(texts[0].replace("_", ""))
            if kind is float or found == int(found):
                return kind(found)
        except (ValueError, OverflowError):
            pass
        raise ValueError(f"{wanted} is needed, not {texts[0]!r:.40}")

    return tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="INT" if kind is int else "FLOAT",
        instance_from_str=read,
        is_instance=lambda value: value is None or isinstance(value, int | float),
        str_from_instance=lambda value: [str(value)],
    )


Count = Annotated[int, number(int)]
Number = Annotated[float, number(float)]
MaybeCount = Annotated[int | None, number(int), shown("INT")]
MaybeNumber = Annotated[float | None, number(float), shown("FLOAT")]
MaybePath = Annotated[Path | None, shown("PATH")]
MaybeText = Annotated[str | None, shown("TEXT")]


@contextmanager
def kept_for_json() -> Iterator[None]:
    """Send what is printed, by compiled code and workers too, to standard error; the document follows at the end."""
    DOCUMENTS.clear()
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        print(*DOCUMENTS, sep="\n", end="\n" if DOCUMENTS else "")


@dataclass(frozen=True, kw_only=True)
class JSONOption:
    """A command that can speak to another program."""

    json: bool = False
    """Print one JSON document to standard output, and nothing else; text goes to standard error."""

    def print_json(self, **content: Any) -> None:
        """Print the document, when the command ends, if it was asked for."""
        if self.json:
            DOCUMENTS[:] = [json.dumps(content, default=str)]  # what JSON cannot say, such as a path, becomes text


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    """A command that writes files."""

    force: bool = False
    """Replace files that are there already."""

    def check_free(self, *paths: Path) -> None:
        """Refuse, before any work is done, to replace a file."""
        for path in paths:
            if path.exists() and not self.force:
                raise DiprlError(f"{path} is there already: write elsewhere, or replace it with --force")


@dataclass(frozen=True, kw_only=True)
class EnvironmentOptions:
    """A command that makes an environment."""

    env_kwargs: Annotated[str, shown("JSON")] = "{}"
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
class ProgramCommand(JSONOption):
    """A command about a saved program."""

    program: Annotated[Path, tyro.conf.Positional, shown("PROGRAM")]
    """A run folder or a program file."""

    def load_program(self) -> "Program":
        from diprl.runs.folder import load_program

        return load_program(self.program)


@dataclass(frozen=True, kw_only=True)
class PlayCommand(EnvironmentOptions, ProgramCommand):
    """A command that plays a saved program."""

    task: Annotated[str | None, shown("TASK")] = None
    """The environment; default: the one the program was learnt on."""

    def load(self) -> tuple["Program", "Task"]:
        from diprl.runs.folder import task_of

        program = self.load_program()
        return program, task_of(self.program, program, self.task, self.parsed_env_kwargs())


def check_at_least(command: Any, **least: float) -> None:
    """Refuse options that are too small."""
    for name, bound in least.items():
        if not getattr(command, name) >= bound:
            option = name.replace("_", "-")
            raise DiprlError(f"--{option} must be at least {bound}, not {getattr(command, name)}")


def optional_fields(settings: type) -> type:
    """A record of the same fields, each None unless the user gives it, with their docstrings as help."""
    texts, items = field_docstrings(settings), []
    for item in fields(settings):
        kind: Any = item.type
        read = [number(kind)] if kind in (int, float) else []
        hint = tyro.conf.arg(
            help=texts.get(item.name, ""), metavar=kind.__name__.upper(), help_behavior_hint="(default: the preset's)"
        )
        items.append((item.name, Annotated[(kind | None, *read, hint)], field(default=None)))
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
                command,
                prog=f"diprl {name}",
                args=arguments,
                description=command.__doc__,
                return_unknown_args=True,
                config=(tyro.conf.FlagCreatePairsOff,),
            )
    except SystemExit as stopped:
        if not stopped.code:
            raise
        raise DiprlError(f"{first_paragraph(said.getvalue())} (see diprl {name} --help)") from None
    if not left:
        return options
    if left[0].startswith("-"):
        raise unknown("option", left[0].partition("=")[0], options_of(command), see=f"diprl {name} --help")
    raise DiprlError(f"unexpected argument '{left[0]}': options begin with --")


def first_paragraph(message: str) -> str:
    """What a boxed message says before it goes into details, in one line."""
    lines = [line.strip(BOX) for line in message.splitlines()[1:]]
    paragraphs = groupby(lines, lambda line: line.strip("-") == "")  # rulers, and what stands between them
    said = next(list(paragraph) for ruler, paragraph in paragraphs if not ruler)
    if said[0].startswith("Missing from "):
        return f"{said[0].removeprefix('Missing from ').rstrip(':')} needs {said[1]}"
    text = " ".join(" ".join(said).split()).removeprefix("Error parsing ")
    return text.partition(". Expected 1")[0].rstrip(".")


def options_of(command: Any) -> dict[str, list[str]]:
    """Every option of a command, those of nested groups and subcommands included, with its choices if it has few."""
    found, kinds = dict[str, list[str]](), get_type_hints(command, include_extras=True)
    for item in fields(command):
        kind, *extras = get_args(kinds[item.name]) or (kinds[item.name],)
        parts = [part for part in nested(kind) if is_dataclass(part) and isinstance(part, type)]
        for part in parts:
            found |= options_of(part)
        if not parts and tyro.conf.Positional not in extras:
            flag = "--no-" if item.default is True else "--"
            found[flag + item.name.replace("_", "-")] = choices_in(extras)
    return found


def nested(kind: Any) -> list[Any]:
    """The kinds that a union or an annotation holds, or the kind itself."""
    parts = get_args(kind)
    return [kind] if is_dataclass(kind) or not parts else [inner for part in parts for inner in nested(part)]


def choices_in(extras: list[Any]) -> list[str]:
    """The names between the braces that help shows."""
    texts = [str(getattr(extra, "metavar", "") or "") for extra in extras]
    return next((text[1:-1].split(",") for text in texts if text.startswith("{")), [])

"""Settings as options: every field of a config, none of them given unless the user gives it."""

import ast
import inspect
from dataclasses import field, fields, make_dataclass
from textwrap import dedent
from typing import Annotated, Any

import tyro


def optional_fields(config: type) -> type:
    """A record of the same fields, each None by default, with their docstrings as help."""
    texts = field_docstrings(config)
    items = [
        (item.name, _optional(item.type, texts.get(item.name, "")), field(default=None)) for item in fields(config)
    ]
    return make_dataclass("Settings", items, frozen=True)


def field_docstrings(config: type) -> dict[str, str]:
    """The docstring under each field; fields in a row without one share the next."""
    body = ast.parse(dedent(inspect.getsource(config))).body[0]
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


def _optional(kind: Any, text: str) -> Any:
    """The type of an option that may be left out."""
    shown = tyro.conf.arg(help=text, metavar=kind.__name__.upper(), help_behavior_hint="(default: the preset's)")
    return Annotated[kind | None, shown]

"""Where a task comes from: a name, a file or a module of the user's own, a task file; and what a run keeps of that."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diprl.errors import LONGEST_NAME, DiprlError
from diprl.program.json_form import fields_of
from diprl.system.files import read_bytes
from diprl.tasks.description import read_description

TASK_FILE = ".toml"
"""What the name of a task file ends with."""
LARGEST_TASK_FILE = 1_000_000


@dataclass(frozen=True)
class Origin:
    """What the user named, in a form that finds it again from any folder."""

    source: str
    """`tank.py:Tank`, `tank:Tank-v0`, or the name of a task that is built in or registered."""
    folder: str = ""
    """The folder in which the file or the module is looked for; empty where there is neither."""
    described: Mapping[str, Any] = field(default_factory=dict)
    """What the task file says; empty where there is none."""
    named: bool = field(default=False, compare=False)
    """Whether the user named it here and now, so that its code may run."""

    @property
    def own(self) -> bool:
        """Whether code of the user's own makes the environment."""
        return ":" in self.source

    def to_json(self) -> dict[str, Any]:
        return {"source": self.source, "folder": self.folder, "described": dict(self.described)}

    @staticmethod
    def from_json(content: Any) -> "Origin":
        """The origin in a file, which may be a stranger's."""
        found = fields_of(content, "its origin", {"source": str, "folder": str, "described": dict})
        read_description(found["described"])
        return Origin(**found)


def named_by_user(text: str) -> Origin:
    """The origin that a user's words stand for."""
    if text.endswith(TASK_FILE):
        return read_task_file(Path(text))
    if text.endswith(".py"):
        raise DiprlError(f"{text} may hold several environments: name the class too, as {text}:Class")
    return _located(text, Path.cwd(), {})


def read_task_file(path: Path) -> Origin:
    """A task file, with its environment looked for in the folder that it lies in."""
    try:
        content = tomllib.loads(read_bytes(path, LARGEST_TASK_FILE).decode("utf-8"))
        environment = read_description(content).environment
        if not environment:
            raise DiprlError('it does not say which environment it is about: add environment = "FILE.py:Class"')
        described = json.loads(json.dumps(content), parse_constant=lambda _: None)
    except FileNotFoundError:
        raise DiprlError(f"there is no task file {path}: write one with diprl task init FILE.py:Class") from None
    except (OSError, ValueError, TypeError, DiprlError) as error:
        raise DiprlError(f"{path}: {error}") from error
    return _located(environment, path.parent, described)


def refuse_module(name: Any) -> str:
    """A task's name as a file gives it, refused where it asks for a module to be imported: that would run code."""
    if not isinstance(name, str):
        raise DiprlError(f"a task's name must be text, not {type(name).__name__}")
    if ":" in name:
        asked = f"the environment '{name:.{LONGEST_NAME}}', whose module would run"
        raise DiprlError(f"the file names {asked}: if you trust it, name it yourself")
    return name


def is_file(source: str) -> bool:
    """Whether a source names a file, and not a module."""
    return source.rpartition(":")[0].endswith(".py")


def _located(source: str, folder: Path, described: Mapping[str, Any]) -> Origin:
    where, _, name = source.rpartition(":")
    if is_file(source):
        path = (folder / Path(where).expanduser()).resolve()
        return Origin(f"{path.name}:{name}", str(path.parent), described, named=True)
    return Origin(source, str(folder.resolve()) if where else "", described, named=True)

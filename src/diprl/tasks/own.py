"""Environments from a file or a module of the user's own: found, checked against what the user named, and made."""

import hashlib
import inspect
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym

from diprl.errors import DiprlError, check_known, unknown
from diprl.system.files import LARGEST_JSON, append_line, read_bytes
from diprl.tasks.origin import Origin, is_file


@dataclass(frozen=True)
class OwnEnvironment:
    """Makes the environment that a source names, in this process or in one that knows nothing of it yet."""

    source: str
    folder: str

    def __call__(self, **kwargs: Any) -> Any:
        where, _, name = self.source.rpartition(":")
        module = load_module(where, self.folder)
        target = getattr(module, name, None)
        if target is None and name in gym.registry:
            return gym.make(name, disable_env_checker=True, **kwargs)
        if not callable(target) or (isinstance(target, type) and not issubclass(target, gym.Env)):
            raise no_environment(self.source, module, target)
        parameters = inspect.signature(target).parameters
        open_ended = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
        check_known(f"keyword argument of {self.source}", parameters, *(() if open_ended else kwargs))
        return target(**kwargs)


def no_environment(source: str, module: ModuleType, found: Any) -> DiprlError:
    """Says what the module has instead."""
    where, _, name = source.rpartition(":")
    known = [key for key, value in vars(module).items() if isinstance(value, type) and issubclass(value, gym.Env)]
    known += [key for key, spec in gym.registry.items() if str(spec.entry_point).startswith(f"{module.__name__}:")]
    if found is None and known:
        return unknown(f"environment in {where}", name, known)
    problem = "is not there" if found is None else "is no gymnasium.Env and no function that makes one"
    return DiprlError(f"{source} {problem}: {where} has {', '.join(known) or 'no environment'}")


def check_allowed(origin: Origin) -> None:
    """Refuse to run code for a file unless this user has named that code before, as it is now."""
    file = code_file(origin)
    name = str(Path(origin.folder) / origin.source) if is_file(origin.source) else origin.source
    again = f"name it yourself (--task {name}, or train {name} --resume)"
    if file is None:
        missing = f"which is not here (looked for in {origin.folder})"
        remedy = "bring it back, or say where it is now with --task FOLDER/FILE.py:Class"
        raise DiprlError(f"trained on {origin.source}, {missing}: {remedy}")
    before = remembered(file, origin.source)
    if before is None:
        raise DiprlError(f"trained on {origin.source}, and {file} would run: if you trust that code, {again}")
    if before != checksum(file):
        raise DiprlError(f"trained on {origin.source}, and {file} has changed since you last named it: {again}")


def code_file(origin: Origin) -> Path | None:
    """The file that would run, found without running anything; of a package, the file that is run first."""
    where = origin.source.rpartition(":")[0]
    file = Path(origin.folder) / where
    if not is_file(origin.source):
        found = PathFinder.find_spec(where.partition(".")[0], [origin.folder, *sys.path])
        file = Path(found.origin or "") if found else file
    return file.resolve() if file.is_file() else None


def load_module(where: str, folder: str) -> ModuleType:
    """The module behind a file's name or a module's; its own imports find what lies in the folder."""
    file = Path(folder) / where
    if where.endswith(".py") and not file.is_file():
        raise DiprlError(f"there is no file {file}")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return run_file(file, checksum(file)) if where.endswith(".py") else import_module(where)
    except DiprlError:
        raise
    except ModuleNotFoundError as error:
        if error.name and f"{where}.".startswith(f"{error.name}."):
            problem = f"the module '{where}' cannot be imported: it is neither in {folder} nor installed"
            raise DiprlError(f"{problem} (a file is named FILE.py:Class)") from None
        raise DiprlError(f"{where} needs the package '{error.name}', which is not installed") from None
    except Exception as error:
        raise DiprlError(f"{where} failed while it was loaded: {type(error).__name__}: {error}") from error


@cache
def run_file(file: Path, content: str) -> ModuleType:
    """The module in a file, run once for each content that the file has had."""
    name, other = file.stem, sys.modules.get(file.stem)
    if other is not None and getattr(other, "__file__", None) != str(file):
        name = f"{name}_{content[:8]}"
    spec = spec_from_file_location(name, file)
    assert spec is not None  # it ends in .py
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)  # type: ignore[union-attr]
    except BaseException:
        del sys.modules[name]
        raise
    return module


def list_of_names() -> Path:
    """Where the names are kept, for this user alone: one per line, with the checksum of the file that ran then.

    What ran once at the user's word may run again when a run folder asks for it, as long as the file has not changed.
    """
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "diprl" / "trusted.txt"


def checksum(file: Path) -> str:
    return hashlib.sha256(read_bytes(file, LARGEST_JSON)).hexdigest()


def remember(file: Path, name: str) -> None:
    """Keep that the user named this, as the file is now; where nothing can be written it is not kept."""
    with suppress(OSError, DiprlError):
        if remembered(file, name) != checksum(file):
            list_of_names().parent.mkdir(parents=True, exist_ok=True)
            append_line(list_of_names(), f"{checksum(file)} {_line(file, name)}\n")


def remembered(file: Path, name: str) -> str | None:
    """The checksum of the file when the user last named this; None where that never happened."""
    with suppress(OSError, DiprlError, UnicodeDecodeError):
        for line in reversed(read_bytes(list_of_names(), LARGEST_JSON).decode("utf-8").splitlines()):
            found, _, what = line.partition(" ")
            if what == _line(file, name):
                return found
    return None


def _line(file: Path, name: str) -> str:
    return ascii(f"{file} {name}")

"""Environments from a file or a module of the user's own: found, checked against what the user named, and made."""

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym

from diprl.errors import DiprlError, unknown
from diprl.system.trust import checksum, remember, remembered
from diprl.tasks.origin import Origin, is_file


@dataclass(frozen=True)
class OwnEnvironment:
    """Makes the environment that a source names, in this process or in one that knows nothing of it yet."""

    source: str
    folder: str

    def __call__(self, **kwargs: Any) -> gym.Env[Any, Any]:
        where, _, name = self.source.rpartition(":")
        module = load_module(where, self.folder)
        target = getattr(module, name, None)
        if target is None and name in gym.registry:
            return gym.make(name, disable_env_checker=True, **kwargs)
        if not callable(target) or (isinstance(target, type) and not issubclass(target, gym.Env)):
            raise no_environment(self.source, module, target)
        parameters = inspect.signature(target).parameters
        open_ended = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
        for key in kwargs.keys() - ({*kwargs} if open_ended else {*parameters}):
            raise unknown(f"keyword argument of {self.source}", key, parameters)
        return target(**kwargs)


def registered_name(source: str, folder: str) -> str | None:
    """The id that a source names, where its module registers it and has nothing else of that name."""
    where, _, name = source.rpartition(":")
    module = load_module(where, folder)
    return name if name in gym.registry and not hasattr(module, name) else None


def no_environment(source: str, module: ModuleType, found: Any) -> DiprlError:
    """Says what the module has instead."""
    where, _, name = source.rpartition(":")
    classes = [key for key, value in vars(module).items() if isinstance(value, type) and issubclass(value, gym.Env)]
    ids = [key for key, spec in gym.registry.items() if str(spec.entry_point).startswith(f"{module.__name__}:")]
    if found is None and (classes or ids):
        return unknown(f"environment in {where}", name, [*classes, *ids])
    problem = f"has no '{name:.80}'" if found is None else f"has '{name}', a {type(found).__name__}"
    if isinstance(found, type):
        problem = f"has '{name}', a class that is no gymnasium.Env"
    has = f"; it has {', '.join([*classes, *ids])}" if classes or ids else ""
    return DiprlError(f"{where} {problem}: name a gymnasium.Env, a function that makes one, or an id{has}")


def check_allowed(origin: Origin) -> None:
    """Refuse to run code for a file unless this user has named that code before, as it is now."""
    file, again = code_file(origin), f"name it yourself, such as --task {origin.full_name}"
    if file is None:
        kind = "file" if is_file(origin.source) else "module"
        raise DiprlError(
            f"trained on {origin.source}, which is not here: the {kind} was looked for in {origin.folder}; "
            "bring it back, or name it where it is now with --task FOLDER/FILE.py:Class"
        )
    before = remembered(file, origin.source)
    if before is None:
        raise DiprlError(f"trained on {origin.source}, and {file} would run: if you trust that code, {again}")
    if before != checksum(file):
        raise DiprlError(f"trained on {origin.source}, and {file} has changed since you last named it: {again}")


def remember_named(origin: Origin) -> None:
    """Keep that the user named this, so that run folders may ask for it."""
    file = code_file(origin)
    if file is not None:
        remember(file, origin.source)


def code_file(origin: Origin) -> Path | None:
    """The file that would run, found without running anything; of a package, the file that is run first."""
    where = origin.source.rpartition(":")[0]
    if is_file(origin.source):
        file = Path(origin.folder) / where
    else:
        found = PathFinder.find_spec(where.partition(".")[0], [origin.folder, *sys.path])
        file = Path(found.origin) if found and found.origin else Path(origin.folder)
    return file.resolve() if file.is_file() else None


def load_module(where: str, folder: str) -> ModuleType:
    """The module behind a file's name or a module's, with the folder among those that are searched for imports."""
    file = Path(folder) / where
    if where.endswith(".py") and not file.is_file():
        raise DiprlError(f"there is no file {file}")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    with one_sentence(where):
        return run_file(file, checksum(file)) if where.endswith(".py") else import_module(where)


@cache
def run_file(file: Path, content: str) -> ModuleType:
    """The module in a file, run once for each content that the file has had."""
    name, other = file.stem, sys.modules.get(file.stem)
    if other is not None and getattr(other, "__file__", None) != str(file):
        name = f"{name}_{content[:8]}"
    spec = spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None  # it ends in .py
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextmanager
def one_sentence(where: str) -> Iterator[None]:
    """Whatever running a module raises, as a sentence for whoever wrote it."""
    try:
        yield
    except DiprlError:
        raise
    except ModuleNotFoundError as error:
        if error.name and (where == error.name or where.startswith(f"{error.name}.")):
            raise DiprlError(
                f"the module '{where}' cannot be imported: there is none here and none installed; "
                f"a file is named {where}.py:Class"
            ) from error
        raise DiprlError(f"{where} needs the package '{error.name}', which is not installed") from error
    except SyntaxError as error:
        raise DiprlError(f"{where} is not valid Python: {error}") from error
    except Exception as error:
        raise DiprlError(f"{where} failed while it was loaded: {type(error).__name__}: {error}") from error

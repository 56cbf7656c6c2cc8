"""The files of primitives: the networks that programs blend, each with where it comes from."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.program.networks import Network
from diprl.system.storage import StorageError, load_arrays, previous, save_arrays

SUFFIX = ".primitive"
FACTS = {"name": str, "task": str, "score": float, "command": str}
"""What a file says about its primitive, beside the arrays."""


@dataclass(frozen=True)
class Primitive:
    """A network that ships, and where it comes from."""

    network: Network
    task: str
    """The training task that made it."""
    score: float
    """Its mean return on that task."""
    command: str
    """The command line that made it."""


def save_primitive(primitive: Primitive, path: Path) -> None:
    """Write the primitive in single precision; no older one stays to stand in for it."""
    arrays = {key: value.astype(np.float32) for key, value in primitive.network.arrays().items()}
    facts = {"name": primitive.network.name, "task": primitive.task}
    save_arrays(path, arrays, facts | {"score": float(primitive.score), "command": primitive.command})
    previous(path).unlink(missing_ok=True)


def load_primitive(path: Path) -> Primitive:
    """Read a primitive, or say in one sentence what is wrong with the file."""
    try:
        arrays, facts = load_arrays(path)
    except StorageError as error:
        raise DiprlError(f"{error}, so not a readable primitive file: train it again") from error
    try:
        return _from_parts(facts, arrays)
    except DiprlError as error:
        raise DiprlError(f"{path}: {error}") from error


def _from_parts(facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Primitive:
    """The primitive, if facts and arrays are exactly those of one."""
    layers = [(f"weights_{number}", f"bias_{number}") for number in range((len(arrays) - 4) // 2)]
    names = {"mean", "std", "low", "high", *(name for layer in layers for name in layer)}
    fits = facts.keys() == FACTS.keys() and all(type(facts[key]) is kind for key, kind in FACTS.items())
    if not fits or arrays.keys() != names or any(array.dtype != np.float32 for array in arrays.values()):
        raise DiprlError("its facts and its arrays are not those of a primitive")
    exact: dict[str, Any] = {key: value.astype(np.float64) for key, value in arrays.items()}
    pairs = tuple((exact.pop(weights), exact.pop(bias)) for weights, bias in layers)
    network = Network(facts["name"], **exact, layers=pairs)
    return Primitive(network, facts["task"], facts["score"], facts["command"])


def data_folder() -> Path:
    """Where the installed package keeps its primitives."""
    return Path(__file__).parent / "data"


@cache
def bundled_primitive(name: str) -> Primitive:
    path = data_folder() / f"{name}{SUFFIX}"
    if not path.is_file():
        raise DiprlError(f"the primitive '{name}' is not bundled; train it with: diprl primitives train {name}")
    return load_primitive(path)

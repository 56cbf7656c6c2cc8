"""Primitives as files: arrays and a JSON header in one .npz, read without unpickling anything."""

import json
import zipfile
import zlib
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.tasks.mujoco.primitives import Primitive

SCHEMA = "diprl-primitive/1"
_NOT_AN_ARCHIVE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, TypeError)


def save_primitive(primitive: Primitive, path: Path) -> None:
    """Write the primitive in single precision, with a checksum over its header and its arrays."""
    arrays = {key: value.astype("<f4") for key, value in _named_arrays(primitive).items()}
    header = {
        "schema": SCHEMA,
        "name": primitive.name,
        "task": primitive.task,
        "score": primitive.score,
        "command": primitive.command,
        "layers": len(primitive.layers),
    }
    header["checksum"] = _checksum(header, arrays)
    with path.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, header=np.array(json.dumps(header)), **arrays)


def load_primitive(path: Path | Traversable) -> Primitive:
    """Read a primitive, or say in one sentence what is wrong with the file."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        header = json.loads(str(arrays.pop("header")))
        schema, checksum = header["schema"], header.pop("checksum")
    except _NOT_AN_ARCHIVE as error:
        raise DiprlError(
            f"'{path}' is not a readable primitive file ({error}); restore it or train it again"
        ) from error
    if schema != SCHEMA:
        raise DiprlError(f"'{path}' has the schema '{schema}'; this version reads '{SCHEMA}'")
    if checksum != _checksum(header, arrays):
        raise DiprlError(f"'{path}' does not match its checksum; restore it or train it again")
    return _from_parts(header, arrays)


def data_folder() -> Path:
    """Where the installed package keeps its primitives."""
    return Path(__file__).parent / "data"


@cache
def bundled_primitive(name: str) -> Primitive:
    """A primitive that ships with the package."""
    path = files("diprl.tasks.mujoco") / "data" / f"{name}.npz"
    if not path.is_file():
        raise DiprlError(
            f"the primitive '{name}' is not bundled; train it with: diprl primitives train {name}"
        )
    return load_primitive(path)


def _named_arrays(primitive: Primitive) -> dict[str, NDArray[Any]]:
    named = {"mean": primitive.mean, "std": primitive.std, "low": primitive.low, "high": primitive.high}
    for number, (weights, bias) in enumerate(primitive.layers):
        named[f"weights_{number}"], named[f"bias_{number}"] = weights, bias
    return named


def _from_parts(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Primitive:
    exact = {key: value.astype(np.float64) for key, value in arrays.items()}
    layers = tuple((exact[f"weights_{n}"], exact[f"bias_{n}"]) for n in range(header["layers"]))
    return Primitive(
        header["name"],
        header["task"],
        header["score"],
        header["command"],
        exact["mean"],
        exact["std"],
        layers,
        exact["low"],
        exact["high"],
    )


def _checksum(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    """A digest of everything the file says, whatever order it says it in."""
    digest = sha256(json.dumps(header, sort_keys=True).encode())
    for key in sorted(arrays):
        digest.update(f"{key}{arrays[key].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[key]).tobytes())
    return digest.hexdigest()

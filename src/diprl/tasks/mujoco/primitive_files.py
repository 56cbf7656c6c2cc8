"""Primitives as files: arrays and a JSON header in one .npz, read without unpickling anything."""

import json
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.tasks.mujoco.array_archive import BROKEN, read_arrays
from diprl.tasks.mujoco.primitives import Primitive

SCHEMA = "diprl-primitive/1"
FIELDS = {"schema": str, "name": str, "task": str, "score": float, "command": str, "layers": int}
"""What a header says, beside the checksum."""


def save_primitive(primitive: Primitive, path: Path) -> None:
    """Write the primitive in single precision, with a checksum over its header and its arrays."""
    arrays = {key: value.astype("<f4") for key, value in _named_arrays(primitive).items()}
    header = {
        "schema": SCHEMA,
        "name": primitive.name,
        "task": primitive.task,
        "score": float(primitive.score),
        "command": primitive.command,
        "layers": len(primitive.layers),
    }
    header["checksum"] = _checksum(header, arrays)
    temporary = path.with_name(path.name + ".partial")
    with temporary.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, header=np.array(json.dumps(header)), **arrays)
    temporary.replace(path)


def load_primitive(path: Path | Traversable) -> Primitive:
    """Read a primitive, or say in one sentence what is wrong with the file."""
    try:
        arrays = read_arrays(path)
        header = json.loads(str(arrays.pop("header")))
        checksum = header.pop("checksum")
        schema = header["schema"]
    except (*BROKEN, AttributeError) as error:
        raise DiprlError(
            f"'{path}' is not a readable primitive file ({error}); restore it or train it again"
        ) from error
    if schema != SCHEMA:
        raise DiprlError(f"'{path}' has the schema '{schema!s:.40}'; this version reads '{SCHEMA}'")
    if checksum != _checksum(header, arrays):
        raise DiprlError(f"'{path}' does not match its checksum; restore it or train it again")
    try:
        return _from_parts(header, arrays)
    except DiprlError as error:
        raise DiprlError(f"'{path}': {error}") from error


def data_folder() -> Path:
    """Where the installed package keeps its primitives."""
    return Path(__file__).parent / "data"


@cache
def bundled_primitive(name: str) -> Primitive:
    """A primitive that ships with the package."""
    path = files("diprl.tasks.mujoco") / "data" / f"{name}.npz"
    if not path.is_file():
        raise DiprlError(f"the primitive '{name}' is not bundled; train it with: diprl primitives train {name}")
    return load_primitive(path)


def _named_arrays(primitive: Primitive) -> dict[str, NDArray[Any]]:
    named = {"mean": primitive.mean, "std": primitive.std, "low": primitive.low, "high": primitive.high}
    for number, (weights, bias) in enumerate(primitive.layers):
        named[f"weights_{number}"], named[f"bias_{number}"] = weights, bias
    return named


def _from_parts(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Primitive:
    """The primitive, if header and arrays are exactly those of one."""
    fits = header.keys() == FIELDS.keys() and all(type(header[key]) is kind for key, kind in FIELDS.items())
    layer_names = [f"{part}_{n}" for n in range(len(arrays)) for part in ("weights", "bias")]
    names = {"mean", "std", "low", "high", *layer_names[: 2 * header["layers"]]} if fits else set()
    if arrays.keys() != names or any(array.dtype.kind != "f" for array in arrays.values()):
        raise DiprlError("its header and its arrays are not those of a primitive")
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

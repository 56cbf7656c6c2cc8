"""Named arrays and JSON facts in one checked file: the format of checkpoints, models and primitives.

A file is a line with the SHA-256 of all that follows, a line of JSON (schema, name, type and shape of each array,
facts) and the arrays' bytes. Loading parses numbers only, so nothing in a file can run. The format is our own because
safetensors, the nearest library, notices no damage to the numbers and would be one more compiled dependency.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.system.files import open_regular, write_whole

SCHEMA = 2
LARGEST_FILE = 1 << 30
"""Bytes; a run's arrays are a few megabytes."""
LARGEST_UNKNOWN = 1 << 26
"""Bytes of arrays that are read where it is not known which to expect."""
LARGEST_HEADER = 1 << 22
"""Bytes of JSON that are parsed at all."""
DIGEST_SIZE = 64
BLOCK = 1 << 20
TYPES = ("bool", "int32", "int64", "uint32", "float32", "float64")

Arrays = dict[str, NDArray[Any]]


class StorageError(DiprlError):
    """A stored file cannot be used."""


def save_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], facts: dict[str, Any]) -> None:
    """Write the arrays; the file before stays as `.previous`, so that damage to one costs little."""
    header = {"schema": SCHEMA, "arrays": layout_of(arrays), "facts": facts}
    body = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays.values())
    content = json.dumps(header, allow_nan=False).encode() + b"\n" + body
    digest = hashlib.sha256(content).hexdigest().encode()
    write_whole(path, digest + b"\n" + content, keep_as=previous(path))


def layout_of(arrays: Mapping[str, NDArray[Any]]) -> list[list[Any]]:
    """Name, type and shape of each array, in order."""
    return [[name, str(array.dtype), list(array.shape)] for name, array in arrays.items()]


def is_stored(path: Path) -> bool:
    """Whether there is a file to load; a crash between two renames leaves the previous one alone."""
    return path.exists() or previous(path).exists()


def previous(path: Path) -> Path:
    return path.with_name(path.name + ".previous")


def load_arrays(path: Path, like: Mapping[str, NDArray[Any]] | None = None) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and facts of a file, or of the one before where that is damaged.

    With `like`, a file whose arrays have other names, types or shapes is refused before its numbers are read.
    """
    return with_fallback(path, lambda file: read_arrays(file, like))


def load_facts(path: Path) -> dict[str, Any]:
    """What the file that would be loaded says of itself."""
    return with_fallback(path, lambda file: read_parts(file, 0)[0]["facts"])


def with_fallback(path: Path, read: Any) -> Any:
    try:
        return read(path)
    except StorageError:
        if not previous(path).exists():
            raise
        return read(previous(path))


def read_arrays(path: Path, like: Mapping[str, NDArray[Any]] | None) -> tuple[Arrays, dict[str, Any]]:
    most = LARGEST_UNKNOWN if like is None else sum(array.nbytes for array in like.values()) + 1
    header, body = read_parts(path, most)
    fits = like is None or header["arrays"] == layout_of(like)
    require(fits, path, "it belongs to a run with other settings")
    arrays, offset = {}, 0
    for name, kind, shape in checked_layout(path, header["arrays"], len(body)):
        size = prod(shape)
        arrays[name] = np.frombuffer(body, kind, size, offset).reshape(shape)
        offset += size * np.dtype(kind).itemsize
    return arrays, header["facts"]


def require(holds: bool, path: Path, complaint: str) -> None:
    if not holds:
        raise StorageError(f"{path}: {complaint}")


def checked_layout(path: Path, layout: Any, size: int) -> list[tuple[str, str, list[int]]]:
    """The layout, if it has the form that we write and describes just the bytes there are."""
    try:
        names = {name for name, kind, shape in layout if isinstance(name, str) and kind in TYPES}
        fits = all(isinstance(length, int) and length >= 0 for _, _, shape in layout for length in shape)
        total = sum(prod(shape) * np.dtype(kind).itemsize for _, kind, shape in layout)
    except (TypeError, ValueError) as error:
        raise StorageError(f"{path}: its list of arrays is not one of ours") from error
    described = fits and len(names) == len(layout) and total == size
    require(described, path, "its list of arrays does not describe what follows")
    return layout


def read_parts(path: Path, most: int) -> tuple[dict[str, Any], bytes]:
    """Header and at most so many bytes of the body of a file whose every byte has been checked."""
    try:
        with open_regular(path, os.O_RDONLY) as file:
            small = os.fstat(file.fileno()).st_size <= LARGEST_FILE
            require(small, path, f"larger than {LARGEST_FILE} bytes, so not one of ours")
            digest, line, body = file.read(DIGEST_SIZE + 1), file.readline(LARGEST_HEADER), file.read(most)
            found = hashlib.sha256(line + body)
            while block := file.read(BLOCK):
                found.update(block)
    except OSError as error:
        raise StorageError(f"{path}: cannot be read ({error.strerror})") from error
    begins = len(digest) == DIGEST_SIZE + 1 and digest[-1:] == b"\n"
    require(begins, path, "it does not begin with a checksum, so it is not one of our files")
    same = found.hexdigest().encode() == digest[:-1]
    require(same, path, "truncated or damaged (its checksum does not match)")
    try:
        header = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{path}: its header is not JSON") from error
    whole = isinstance(header, dict) and {"schema", "arrays", "facts"} <= header.keys()
    require(whole, path, "its header lacks schema, arrays or facts")
    schema = header["schema"]
    require(schema == SCHEMA, path, f"schema {schema!r:.40} is not {SCHEMA}, which this version reads")
    require(isinstance(header["facts"], dict), path, "its facts are not an object")
    return header, body


def save_tree(path: Path, tree: Any, facts: dict[str, Any]) -> None:
    """Write all arrays of a JAX pytree; the file before stays as `.previous`."""
    save_arrays(path, tree_arrays(tree), facts)


def load_tree(path: Path, like: Any) -> tuple[Any, dict[str, Any]]:
    """The pytree of the same structure as `like` that was saved, and its facts."""
    import jax

    arrays, facts = load_arrays(path, tree_arrays(like))
    leaves, structure = jax.tree.flatten(like)
    pairs = zip(map(jax.numpy.asarray, arrays.values()), leaves, strict=True)
    restored = [jax.random.wrap_key_data(array) if is_random_key(leaf) else array for array, leaf in pairs]
    return jax.tree.unflatten(structure, restored), facts


def tree_arrays(tree: Any) -> Arrays:
    """Every leaf as a NumPy array, named after its place in the tree."""
    import jax

    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path): to_numpy(leaf) for path, leaf in leaves}


def to_numpy(leaf: Any) -> NDArray[Any]:
    import jax

    return np.asarray(jax.random.key_data(leaf) if is_random_key(leaf) else leaf)


def is_random_key(leaf: Any) -> bool:
    import jax

    return isinstance(leaf, jax.Array) and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key)

"""Checkpoints: every array of a run in one file, written so that a crash leaves either the old or the new one.

A file is a JSON header line (schema, checksum, description of each array) followed by the arrays' bytes. Loading parses
numbers only; nothing in a file can run.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import jax
import jax.random as jr
import numpy as np

from diprl.errors import DiprlError

SCHEMA = 1
LARGEST_HEADER = 1 << 20


class CheckpointError(DiprlError):
    """A checkpoint file cannot be used."""


def save_checkpoint(path: Path, tree: Any, facts: dict[str, Any]) -> None:
    """Write all arrays of a pytree; an existing checkpoint is kept as `.previous` until the next one is safe."""
    arrays = [to_numpy(leaf) for leaf in jax.tree.leaves(tree)]
    body = b"".join(array.tobytes() for array in arrays)
    header = {
        "schema": SCHEMA,
        "sha256": hashlib.sha256(body).hexdigest(),
        "arrays": [[str(array.dtype), list(array.shape)] for array in arrays],
        "facts": facts,
    }
    temporary = path.with_suffix(".partial")
    with open(temporary, "wb") as file:
        file.write(json.dumps(header).encode() + b"\n" + body)
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        os.replace(path, path.with_suffix(".previous"))
    os.replace(temporary, path)
    sync_folder(path.parent)


def load_checkpoint(path: Path, like: Any) -> tuple[Any, dict[str, Any]]:
    """The pytree of the same structure as `like` that was saved, and its facts; falls back to the previous file."""
    try:
        return read_checkpoint(path, like)
    except CheckpointError:
        previous = path.with_suffix(".previous")
        if not previous.exists():
            raise
        return read_checkpoint(previous, like)


def read_checkpoint(path: Path, like: Any) -> tuple[Any, dict[str, Any]]:
    leaves, structure = jax.tree.flatten(like)
    templates = [to_numpy(leaf) for leaf in leaves]
    expected = [[str(array.dtype), list(array.shape)] for array in templates]
    size = sum(array.nbytes for array in templates)
    header, body = read_parts(path, size)
    if header["arrays"] != expected:
        raise CheckpointError(f"{path}: the checkpoint belongs to a run with other settings")
    if hashlib.sha256(body).hexdigest() != header["sha256"]:
        raise CheckpointError(f"{path}: the checkpoint is damaged (its checksum does not match)")
    arrays, offset = [], 0
    for template, leaf in zip(templates, leaves, strict=True):
        chunk = np.frombuffer(body, template.dtype, template.size, offset).reshape(template.shape)
        offset += template.nbytes
        arrays.append(from_numpy(chunk, leaf))
    return jax.tree.unflatten(structure, arrays), header["facts"]


def read_parts(path: Path, size: int) -> tuple[dict[str, Any], bytes]:
    """Header and body of a file, reading no more than a valid file of this size would hold."""
    try:
        with open(path, "rb") as file:
            line = file.readline(LARGEST_HEADER)
            body = file.read(size + 1)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        header = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: not a checkpoint (its header is not valid JSON)") from error
    required = {"schema", "sha256", "arrays", "facts"}
    if not isinstance(header, dict) or not required <= header.keys():
        raise CheckpointError(f"{path}: not a checkpoint (its header lacks {', '.join(sorted(required))})")
    if header["schema"] != SCHEMA:
        raise CheckpointError(
            f"{path}: checkpoint schema {header['schema']} is not {SCHEMA}, which this version reads"
        )
    if len(body) != size:
        raise CheckpointError(
            f"{path}: the checkpoint is truncated or of another run ({len(body)} of {size} bytes)"
        )
    return header, body


def to_numpy(leaf: Any) -> np.ndarray:
    if isinstance(leaf, jax.Array) and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return np.asarray(jr.key_data(leaf))
    return np.asarray(leaf)


def from_numpy(array: np.ndarray, like: Any) -> jax.Array:
    if isinstance(like, jax.Array) and jax.numpy.issubdtype(like.dtype, jax.dtypes.prng_key):
        return jr.wrap_key_data(jax.numpy.asarray(array))
    return jax.numpy.asarray(array)


def sync_folder(folder: Path) -> None:
    """Make a rename durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def stored_facts(path: Path) -> dict[str, Any]:
    """What a checkpoint says of itself, without its arrays; nothing where there is none."""
    for candidate in (path, path.with_suffix(".previous")):
        try:
            header = json.loads(candidate.open("rb").readline(LARGEST_HEADER))
            return dict(header["facts"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
    return {}

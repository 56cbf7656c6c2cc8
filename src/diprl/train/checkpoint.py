"""Checkpoints: every array of a run in one file, written so that a crash leaves either the old or the new one.

A file is a line with the SHA-256 of all that follows, a line of JSON (schema, description of each array, facts on the
run) and the arrays' bytes. Loading parses numbers only; nothing in a file can run.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, BinaryIO

import jax
import jax.random as jr
import numpy as np

from diprl.errors import DiprlError
from diprl.train.files import write_whole

SCHEMA = 1
LARGEST_FILE = 1 << 30
"""Bytes; a run's arrays are a few megabytes."""
LARGEST_HEADER = 1 << 22
"""Bytes of JSON that are parsed at all."""
DIGEST_SIZE = 64
BLOCK = 1 << 20


class CheckpointError(DiprlError):
    """A checkpoint file cannot be used."""


def save_checkpoint(path: Path, tree: Any, facts: dict[str, Any]) -> None:
    """Write all arrays of a pytree; the checkpoint before stays as `.previous`."""
    arrays = [to_numpy(leaf) for leaf in jax.tree.leaves(tree)]
    header = {"schema": SCHEMA, "arrays": [describe(array) for array in arrays], "facts": facts}
    content = json.dumps(header).encode() + b"\n" + b"".join(array.tobytes() for array in arrays)
    digest = hashlib.sha256(content).hexdigest().encode()
    write_whole(path, digest + b"\n" + content, keep_as=with_ending(path, ".previous"))


def has_checkpoint(path: Path) -> bool:
    """Whether there is one to load; a crash between two renames leaves the previous one alone."""
    return path.exists() or with_ending(path, ".previous").exists()


def load_checkpoint(path: Path, like: Any) -> tuple[Any, dict[str, Any]]:
    """The pytree of the same structure as `like` that was saved, and its facts; falls back to the previous file."""
    try:
        return read_checkpoint(path, like)
    except CheckpointError:
        previous = with_ending(path, ".previous")
        if not previous.exists():
            raise
        return read_checkpoint(previous, like)


def stored_facts(path: Path) -> dict[str, Any]:
    """What the checkpoint that would be loaded says of itself; falls back as loading does."""
    try:
        return read_parts(path, 0)[0]["facts"]
    except CheckpointError:
        previous = with_ending(path, ".previous")
        if not previous.exists():
            raise
        return read_parts(previous, 0)[0]["facts"]


def read_checkpoint(path: Path, like: Any) -> tuple[Any, dict[str, Any]]:
    leaves, structure = jax.tree.flatten(like)
    templates = [to_numpy(leaf) for leaf in leaves]
    size = sum(array.nbytes for array in templates)
    header, body = read_parts(path, size + 1)
    same_arrays = header["arrays"] == [describe(array) for array in templates]
    if not same_arrays or len(body) != size:
        raise CheckpointError(f"{path}: the checkpoint belongs to a run with other settings")
    arrays, offset = [], 0
    for template, leaf in zip(templates, leaves, strict=True):
        chunk = np.frombuffer(body, template.dtype, template.size, offset).reshape(template.shape)
        offset += template.nbytes
        arrays.append(from_numpy(chunk, leaf))
    return jax.tree.unflatten(structure, arrays), header["facts"]


def read_parts(path: Path, most: int) -> tuple[dict[str, Any], bytes]:
    """Header and at most so many bytes of the body of a file whose every byte has been checked."""
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size > LARGEST_FILE:
                raise CheckpointError(f"{path}: not a checkpoint (larger than {LARGEST_FILE} bytes)")
            line, body = read_content(path, file, most)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        header = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: not a checkpoint (its header is not JSON)") from error
    return checked_header(path, header), body


def read_content(path: Path, file: BinaryIO, most: int) -> tuple[bytes, bytes]:
    """The line of JSON and the beginning of the body, after comparing the checksum with the whole of the file."""
    digest = file.read(DIGEST_SIZE + 1)
    if len(digest) != DIGEST_SIZE + 1 or digest[-1:] != b"\n":
        raise CheckpointError(f"{path}: not a checkpoint (it does not begin with a checksum)")
    line = file.readline(LARGEST_HEADER)
    body = file.read(most)
    found, read = hashlib.sha256(line + body), len(line) + len(body)
    while block := file.read(BLOCK):
        found.update(block)
        read += len(block)
        if read > LARGEST_FILE:
            raise CheckpointError(f"{path}: not a checkpoint (larger than {LARGEST_FILE} bytes)")
    if found.hexdigest().encode() != digest[:-1]:
        raise CheckpointError(f"{path}: the checkpoint is truncated or damaged (its checksum does not match)")
    return line, body


def checked_header(path: Path, header: Any) -> dict[str, Any]:
    if not isinstance(header, dict) or not {"schema", "arrays", "facts"} <= header.keys():
        raise CheckpointError(f"{path}: not a checkpoint (its header lacks schema, arrays or facts)")
    if header["schema"] != SCHEMA:
        found = f"{header['schema']!r:.40}"
        raise CheckpointError(f"{path}: checkpoint schema {found} is not {SCHEMA}, which this version reads")
    if not isinstance(header["facts"], dict):
        raise CheckpointError(f"{path}: not a checkpoint (its facts are not an object)")
    return header


def describe(array: np.ndarray) -> list[Any]:
    return [str(array.dtype), list(array.shape)]


def with_ending(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def to_numpy(leaf: Any) -> np.ndarray:
    return np.asarray(jr.key_data(leaf) if is_random_key(leaf) else leaf)


def from_numpy(array: np.ndarray, like: Any) -> jax.Array:
    numbers = jax.numpy.asarray(array)
    return jr.wrap_key_data(numbers) if is_random_key(like) else numbers


def is_random_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key)

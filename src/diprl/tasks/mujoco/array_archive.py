"""Reads .npz archives from strangers: numbers and text in the few forms that we write, within bounds on everything."""

import re
import zipfile
import zlib
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST_FILE = 1 << 26
LARGEST_CONTENT = 1 << 27
"""Bytes of all arrays together, so that a small file cannot unfold into a large one."""
MOST_ARRAYS = 256

_FORMS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_ARRAY = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<type><f4|<f8|<U\d{1,7})', 'fortran_order': (?P<order>False|True), "
    rb"'shape': \((?P<shape>(?:\d{1,9}, ?)*(?:\d{1,9})?)\), \} *\n",
    re.DOTALL,
)
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, TypeError, NotImplementedError,
          RuntimeError, OverflowError, IndexError)  # fmt: skip
"""What Python's reader of archives raises on damaged ones, from one damage or another."""


def read_arrays(path: Path | Any) -> dict[str, NDArray[Any]]:
    """The arrays of an archive by name; raises one of `BROKEN` for anything that we would not have written."""
    with path.open("rb") as stream:
        content = stream.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise ValueError(f"larger than {LARGEST_FILE} bytes")
    with zipfile.ZipFile(BytesIO(content)) as archive:
        entries = archive.infolist()
        if len(entries) > MOST_ARRAYS or sum(entry.file_size for entry in entries) > LARGEST_CONTENT:
            raise ValueError("it unfolds into more than a primitive can be")
        return {entry.filename.removesuffix(".npy"): read_entry(archive, entry) for entry in entries}


def read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[Any]:
    if entry.compress_type not in _FORMS or entry.flag_bits & _ENCRYPTED:
        raise ValueError(f"'{entry.filename:.40}' is packed in a way that we do not use")
    with archive.open(entry) as stream:
        return parse_array(stream.read(entry.file_size + 1))


def parse_array(content: bytes) -> NDArray[Any]:
    """An array from the bytes of an .npy file, whose head is matched and never evaluated."""
    head = _ARRAY.match(content[:1024])
    if head is None:
        raise ValueError("it holds something other than plain arrays of numbers")
    kind = np.dtype(head["type"].decode())
    shape = tuple(int(size) for size in head["shape"].split(b",") if size.strip())
    if kind.itemsize * prod(shape) != len(content) - head.end():
        raise ValueError("an array is longer or shorter than it says")
    order = "F" if head["order"] == b"True" else "C"
    return np.frombuffer(content, kind, prod(shape), head.end()).reshape(shape, order=order)

"""Files that are written whole or not at all, whatever happens to the process or the power meanwhile."""

import os
from pathlib import Path


def write_whole(path: Path, content: bytes, keep_as: Path | None = None) -> None:
    """Replace a file at once by a synced one; the file before is kept under another name if one is given."""
    temporary = path.with_name(path.name + ".partial")
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if keep_as is not None and path.exists():
        os.replace(path, keep_as)
    os.replace(temporary, path)
    sync_folder(path.parent)


def append_line(path: Path, line: str) -> None:
    """Add a line to a file and wait until it is stored."""
    with open(path, "a", encoding="utf-8", newline="") as file:
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make a rename durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Locks between processes; the system releases them however their holder ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Hold a lock file while the block lasts; False where another process holds it.

    The file stays behind: removing it would let two processes lock two files of the same name.
    """
    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()

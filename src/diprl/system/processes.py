"""This process, its workers, Ctrl-C, and locks between processes."""

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import parent_process
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import Any

from filelock import FileLock, Timeout

leave = os._exit
"""The real one, also where a test replaces it."""
ORPHANED = 70
"""Exit code of a worker whose parent is gone."""


def available_cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def end_with_parent() -> None:
    """Let this process end as soon as the process that started it does.

    Python gives every spawned process a pipe that its parent never closes; the operating system closes it even when the
    parent is killed. A thread waits for that, since the worker itself may be busy for hours.
    """
    parent = parent_process()
    if parent is None:
        return

    def wait_and_leave() -> None:
        parent.join()
        leave(ORPHANED)

    Thread(target=wait_and_leave, daemon=True, name="lifeline").start()


class Interruption:
    """An observer that ends the run at the first snapshot after Ctrl-C; a second Ctrl-C ends it at once."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, snapshot: Any = None) -> None:
        """End the run if that was asked for."""
        if self.asked:
            raise KeyboardInterrupt

    @contextmanager
    def listening(self, commands: Iterable[str] = (), then: str = "stopping at the next report") -> Iterator[None]:
        """Listen to Ctrl-C during work that these commands would go on with; `then` says what follows."""
        before = signal.getsignal(signal.SIGINT)

        def ask(number: int, frame: FrameType | None) -> None:
            self.asked = True
            signal.signal(signal.SIGINT, before)
            print(f"\n{then}; Ctrl-C again stops at once", file=sys.stderr, flush=True)

        signal.signal(signal.SIGINT, ask)
        try:
            yield
        except KeyboardInterrupt:
            raise KeyboardInterrupt("; ".join(["stopped", *(f"go on with: {each}" for each in commands)])) from None
        finally:
            signal.signal(signal.SIGINT, before)


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Hold a lock file while the block lasts; False where another process holds it.

    The file stays behind: removing it would let two processes lock two files of the same name.
    """
    try:
        lock = FileLock(path).acquire(blocking=False)
    except Timeout:
        yield False
        return
    with lock:
        yield True

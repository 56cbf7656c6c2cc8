"""Worker processes that never outlive the process that started them, however that one ends."""

import os
from multiprocessing import parent_process
from threading import Thread

ORPHANED = 70
"""Exit code of a worker whose parent is gone."""


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
        os._exit(ORPHANED)

    Thread(target=wait_and_leave, daemon=True, name="lifeline").start()

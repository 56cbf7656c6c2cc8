"""Worker processes end with the process that started them, even when that one is killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest


def wait_until(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds()


def workers_of(folder: Path) -> list[int]:
    return [int(path.stem) for path in folder.glob("*.worker")]


def is_running(process: int) -> bool:
    """Whether a process is there and not a zombie that nobody has buried yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
@pytest.mark.parametrize("kind", ["environments", "grid"])
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_no_worker_outlives_its_parent(kind: str, end: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.reliability.parents", kind, str(tmp_path)]
    parent = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert wait_until(lambda: len(workers_of(tmp_path)) == 2)
        workers = workers_of(tmp_path)
        assert all(map(is_running, workers))
    finally:
        parent.send_signal(end)
        parent.wait()
    try:
        assert wait_until(lambda: not any(map(is_running, workers)), seconds=10.0)
    finally:
        for worker in filter(is_running, workers):
            os.kill(worker, signal.SIGKILL)

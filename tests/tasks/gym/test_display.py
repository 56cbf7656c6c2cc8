"""Drawing without a screen: whatever imports MuJoCo first, it can draw afterwards, or at least be imported."""

import os
import subprocess
import sys

import pytest

from diprl.system.device import can_draw_off_screen

LOAD = """
import ctypes.util, os, sys
if sys.argv[2] == "hidden":
    find = ctypes.util.find_library
    ctypes.util.find_library = lambda name: None if name == "EGL" else find(name)
from diprl.tasks.registry import load_task
assert "mujoco" not in sys.modules
load_task(sys.argv[1]).reference()
assert "mujoco" in sys.modules
print(os.environ.get("MUJOCO_GL"))
"""


def chosen(task: str, library: str = "as it is", **environment: str) -> str:
    """How MuJoCo will draw in a process that has no screen and made this task's environment first."""
    screen = ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL")
    kept = {name: value for name, value in os.environ.items() if name not in screen}
    command = [sys.executable, "-c", LOAD, task, library]
    kept |= environment
    done = subprocess.run(command, env=kept, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there always is a screen")
@pytest.mark.parametrize("task", ["Reacher-v5", "Pusher2D"])
def test_without_a_screen_mujoco_draws_off_screen_if_it_can(task: str) -> None:
    assert chosen(task) == ("egl" if can_draw_off_screen() else "None")
    assert chosen(task, library="hidden") == "None"
    assert chosen(task, MUJOCO_GL="glfw") == "glfw", "the user's choice stands"

"""Whether there is a screen, and how MuJoCo draws where there is none."""

import os
import sys
from ctypes.util import find_library
from functools import cache


def has_screen() -> bool:
    """Whether a window can be opened here."""
    if not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def draw_without_screen() -> None:
    """Have MuJoCo draw off-screen where there is no screen; it looks for this once, when it is first imported."""
    if not has_screen() and "MUJOCO_GL" not in os.environ and can_draw_off_screen():
        os.environ["MUJOCO_GL"] = "egl"


@cache
def can_draw_off_screen() -> bool:
    """Whether the library for it is here: told to use one that is missing, MuJoCo cannot even be imported."""
    return find_library("EGL") is not None

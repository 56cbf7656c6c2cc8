"""Environments that draw themselves, with or without a screen."""

import os
from typing import Any
from warnings import catch_warnings, simplefilter

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.tasks.base import Task
from diprl.tasks.gym.display import draw_without_screen, has_screen
from diprl.tasks.mujoco.engine import load_solver_first


def prepare_rendering() -> None:
    """Choose drawing without a screen where there is none; must come before MuJoCo or pygame is imported."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    if not has_screen():
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    draw_without_screen()
    load_solver_first()


def open_environment(task: Task, mode: str) -> gym.Env[Any, Any]:
    """A reference environment that draws itself, `rgb_array` for pictures or `human` for a window."""
    if mode == "human" and not has_screen():
        raise DiprlError("there is no screen here to open a window on: record with --record FILE.gif instead")
    prepare_rendering()
    return task.reference(render_mode=mode)


def picture(environment: gym.Env[Any, Any], name: str) -> NDArray[np.uint8]:
    """What the environment looks like now."""
    try:
        with catch_warnings():
            simplefilter("ignore", DeprecationWarning)
            drawn = environment.render()
    except gym.error.DependencyNotInstalled as error:
        raise DiprlError(f"{name} cannot be drawn: install it with: pip install 'diprl[video]'") from error
    except Exception as error:
        raise DiprlError(f"{name} cannot be drawn here: {error}") from error
    if not isinstance(drawn, np.ndarray) or drawn.ndim != 3:
        raise DiprlError(f"{name} does not draw itself: it returns no picture for render_mode 'rgb_array'")
    return drawn


def steps_per_second(environment: gym.Env[Any, Any]) -> float:
    """The pace at which the environment is meant to be watched."""
    return float(environment.metadata.get("render_fps") or 30.0)

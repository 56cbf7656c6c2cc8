"""The door to MuJoCo: it is imported here only, when an environment is built."""

from collections.abc import Sequence
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from diprl.errors import optional
from diprl.system.device import draw_without_screen

# MuJoCo publishes no types for its compiled classes.
MjModel = Any
MjSpec = Any

FRAME_SKIP = 5
"""Simulator steps per action."""
INTERVAL = 0.05
"""Seconds per action."""


def import_mujoco() -> ModuleType:
    """MuJoCo, able to draw whether there is a screen or not."""
    draw_without_screen()
    lacking = "this task needs MuJoCo, which is not installed; install it with: pip install 'diprl[mujoco]'"
    optional("mujoco.rollout", lacking)
    return optional("mujoco", lacking)


def load_solver_first() -> None:
    """Load Z3, where it is installed, before anything is drawn.

    Mesa may bring another Z3; the one that is loaded first serves both, and proofs crash on Mesa's.
    """
    if find_spec("z3"):
        import_module("z3")


def gymnasium_model(file_name: str, *, drop: str = "") -> MjSpec:
    """One of the robots that ship with Gymnasium, less an attribute that MuJoCo no longer accepts quietly."""
    asset = files("gymnasium") / "envs" / "mujoco" / "assets" / file_name
    return import_mujoco().MjSpec.from_string(asset.read_text().replace(drop, ""))


def add_box(spec: MjSpec, position: Sequence[float], half_size: Sequence[float]) -> None:
    """A fixed obstacle that everything collides with; friction and softness come from the robot's file."""
    # Obstacles with bodies of their own are ruled out by distance one by one, so far ones cost nothing;
    # a massless one does not count in a robot's total mass.
    body = spec.worldbody.add_body(pos=position)
    _add_shape(body, "mjGEOM_BOX", half_size, collides=True, colour=(0.45, 0.5, 0.6, 1.0))


def add_goal(spec: MjSpec, radius: float, position: Sequence[float] = (0.0, 0.0, 0.5)) -> None:
    """A translucent ball that touches and weighs nothing; rendering moves it to the episode's goal."""
    body = spec.worldbody.add_body(name="goal", pos=position, mocap=True)
    _add_shape(body, "mjGEOM_SPHERE", (radius, 0.0, 0.0), collides=False, colour=(0.2, 0.7, 0.3, 0.4))


def _add_shape(body: Any, kind: str, size: Sequence[float], *, collides: bool, colour: Sequence[float]) -> None:
    shape = getattr(import_mujoco().mjtGeom, kind)
    body.add_geom(type=shape, size=size, mass=0.0, contype=collides, conaffinity=collides, rgba=colour)


def compile_tracking(spec: MjSpec, bodies: Sequence[str]) -> MjModel:
    """The model with a position sensor for each named body, so that rollouts report where they are."""
    mujoco = import_mujoco()
    place, whose = mujoco.mjtSensor.mjSENS_FRAMEPOS, mujoco.mjtObj.mjOBJ_XBODY
    for body in bodies:
        spec.add_sensor(name=f"{body}_position", type=place, objtype=whose, objname=body)
    return spec.compile()

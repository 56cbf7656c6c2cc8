"""What a primitive perceives: its robot's own posture and motion, cut from the task's observation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from diprl.program.signature import Feature
from diprl.tasks.mujoco import ant


@dataclass(frozen=True)
class Senses:
    """The part of an observation that a robot feels, with names, and the names of its motors."""

    features: tuple[Feature, ...]
    actuators: tuple[str, ...]
    extract: Callable[[NDArray[Any]], NDArray[Any]]


def _features(*groups: tuple[str, str]) -> tuple[Feature, ...]:
    """One feature per word of each (words, unit)."""
    return tuple(Feature(name, unit) for words, unit in groups for name in words.split())


def _velocities(words: str) -> str:
    return " ".join(f"{name}_velocity" for name in words.split())


_CHEETAH_JOINTS = "back_thigh back_shin back_foot front_thigh front_shin front_foot"
CHEETAH = Senses(
    _features(
        ("height", "m"),
        (f"pitch {_CHEETAH_JOINTS}", "rad"),
        ("x_velocity z_velocity", "m/s"),
        (_velocities(f"pitch {_CHEETAH_JOINTS}"), "rad/s"),
    ),
    tuple(_CHEETAH_JOINTS.split()),
    lambda observation: observation[:, 1:18],
)

_PUSHER_JOINTS = "shoulder elbow wrist"
PUSHER = Senses(
    _features(
        ("sin_shoulder sin_elbow sin_wrist cos_shoulder cos_elbow cos_wrist", ""),
        (_velocities(_PUSHER_JOINTS), "rad/s"),
        ("tip_x tip_y tip_z puck_x puck_y puck_z", "m"),
    ),
    tuple(_PUSHER_JOINTS.split()),
    lambda observation: observation,
)

_ANT_JOINTS = "hip_1 ankle_1 hip_2 ankle_2 hip_3 ankle_3 hip_4 ankle_4"
ANT = Senses(
    _features(
        ("height", "m"),
        ("quaternion_w quaternion_x quaternion_y quaternion_z", ""),
        (_ANT_JOINTS, "rad"),
        ("x_velocity y_velocity z_velocity", "m/s"),
        ("roll_velocity pitch_velocity yaw_velocity", "rad/s"),
        (_velocities(_ANT_JOINTS), "rad/s"),
    ),
    ("hip_4", "ankle_4", "hip_1", "ankle_1", "hip_2", "ankle_2", "hip_3", "ankle_3"),
    lambda observation: observation[:, 2 : ant.POSITIONS + ant.VELOCITIES],
)

"""The three robots: what conditions read, what primitives feel, and the primitives that programs blend."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.program.networks import Network
from diprl.program.signature import Feature
from diprl.tasks.mujoco import ant
from diprl.tasks.mujoco.cheetah import LAST_HURDLE
from diprl.tasks.mujoco.primitives import bundled_primitive
from diprl.tasks.mujoco.symmetry import turned
from diprl.tasks.names import expanded, named_features

PI = float(np.float32(np.pi))
Cut = Callable[[NDArray[Any]], NDArray[Any]]
"""Some numbers (n, …) out of each of n observations."""


@dataclass(frozen=True)
class Robot:
    """What the tasks of one robot share."""

    features: tuple[Feature, ...]
    """What conditions read."""
    read: Cut
    senses: tuple[Feature, ...]
    """What primitives read: the robot's own posture and motion."""
    feel: Cut
    motors: tuple[str, ...]
    primitives: Mapping[str, Callable[[], Network]]
    """Loads each primitive, under the name that programs give it."""

    @cached_property
    def networks(self) -> tuple[Network, ...]:
        """The primitives, loaded when they are first asked for."""
        return tuple(replace(load(), name=name) for name, load in self.primitives.items())

    def view(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        """Condition features, the whole observation for the critic, and each primitive's action."""
        felt = self.feel(observations)
        actions = [network.actions(felt) for network in self.networks]
        return np.column_stack((self.read(observations), observations, *actions)).astype(np.float32)


def _read_ant(observation: NDArray[Any]) -> NDArray[Any]:
    x, y = observation[:, 0], observation[:, 1]
    return np.column_stack((x, y, observation[:, -2:], np.arctan2(y, x), np.hypot(x, y)))


def _shipped(name: str, quarter_turns: int = 0) -> Network:
    """A network that ships; the ant's other directions are turns of the one that does."""
    return turned(bundled_primitive(name).network, quarter_turns)


CHEETAH_JOINTS = "{back,front}_{thigh,shin,foot}"
CHEETAH = Robot(
    features=(
        Feature("next_hurdle_x", "m", -LAST_HURDLE, LAST_HURDLE, "x of the first bar at or beyond the back foot"),
        Feature("back_foot_distance", "m", 0.0, inf, "distance along x from the back foot to that bar"),
    ),
    read=lambda observation: observation[:, -2:],
    senses=named_features(
        f"height:m pitch:rad {CHEETAH_JOINTS}:rad "
        f"{{x,z}}_velocity:m/s pitch_velocity:rad/s {CHEETAH_JOINTS}_velocity:rad/s"
    ),
    feel=lambda observation: observation[:, 1:18],
    motors=expanded(CHEETAH_JOINTS),
    primitives={name: partial(_shipped, f"cheetah_{name}") for name in ("forward", "jump")},
)

ARM_JOINTS = "{shoulder,elbow,wrist}"
ARM = Robot(
    features=named_features("{tip,puck}_{x,y}:m"),
    read=lambda observation: observation[:, (9, 10, 12, 13)],
    senses=named_features(f"{{sin,cos}}_{ARM_JOINTS} {ARM_JOINTS}_velocity:rad/s {{tip,puck}}_{{x,y,z}}:m"),
    feel=lambda observation: observation,
    motors=expanded(ARM_JOINTS),
    primitives={name: partial(_shipped, f"pusher_{name}") for name in ("left", "down")},
)

ANT_JOINTS = "{hip_1,ankle_1,hip_2,ankle_2,hip_3,ankle_3,hip_4,ankle_4}"
ANT = Robot(
    features=(
        *named_features("x:m y:m goal_x:m goal_y:m"),
        Feature("bearing", "rad", -PI, PI, "atan2(y, x)"),
        Feature("radius", "m", 0.0, inf, "distance from the origin"),
    ),
    read=_read_ant,
    senses=named_features(
        f"height:m quaternion_{{w,x,y,z}} {ANT_JOINTS}:rad "
        f"{{x,y,z}}_velocity:m/s {{roll,pitch,yaw}}_velocity:rad/s {ANT_JOINTS}_velocity:rad/s"
    ),
    feel=lambda observation: observation[:, 2 : ant.POSITIONS + ant.VELOCITIES],
    motors=("hip_4", "ankle_4", "hip_1", "ankle_1", "hip_2", "ankle_2", "hip_3", "ankle_3"),
    primitives={
        name: partial(_shipped, "ant_up", turns) for name, turns in {"up": 0, "down": 2, "left": 1, "right": 3}.items()
    },
)

"""Names and units that Gymnasium's own environments leave to their documentation."""

from diprl.tasks.names_mujoco import MUJOCO_NAMES
from diprl.tasks.spelling import Names, spelt

LANDER = "x y x_velocity y_velocity angle:rad angular_velocity left_leg_contact right_leg_contact"
LEGS = " ".join(
    f"hip{leg}_angle:rad hip{leg}_speed knee{leg}_angle:rad knee{leg}_speed leg{leg}_contact" for leg in (1, 2)
)
WALKER = spelt(
    f"hull_angle:rad hull_angular_velocity x_velocity y_velocity {LEGS} "
    + " ".join(f"lidar{ray}" for ray in range(10)),
    "hip1 knee1 hip2 knee2",
)

CONTROL_NAMES = {
    "CartPole": [spelt("cart_position:m cart_velocity:m/s pole_angle:rad pole_angular_velocity:rad/s", "left right")],
    "Acrobot": [
        spelt(
            "cos_theta1 sin_theta1 cos_theta2 sin_theta2 theta1_velocity:rad/s theta2_velocity:rad/s",
            "torque_minus no_torque torque_plus",
        )
    ],
    "MountainCar": [spelt("position velocity", "left coast right")],
    "MountainCarContinuous": [spelt("position velocity", "force")],
    "Pendulum": [spelt("cos_theta sin_theta theta_velocity:rad/s", "torque")],
    "LunarLander": [
        spelt(LANDER, "noop left_engine main_engine right_engine"),
        spelt(LANDER, "main_engine side_engine"),
    ],
    "LunarLanderContinuous": [spelt(LANDER, "main_engine side_engine")],
    "BipedalWalker": [WALKER],
    "BipedalWalkerHardcore": [WALKER],
}


def known_names(environment_id: str, features: int | None, actions: int) -> Names | None:
    """Names for a Gymnasium id of any version with that many actions and features; None features fit any."""
    candidates = {**CONTROL_NAMES, **MUJOCO_NAMES}.get(environment_id.rpartition("-v")[0], [])
    for names in candidates:
        if len(names.actions) == actions and features in (None, len(names.features)):
            return names
    return None

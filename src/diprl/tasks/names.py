"""Names and units that Gymnasium's own environments leave to their documentation."""

from typing import NamedTuple


class Names(NamedTuple):
    """What one environment's observation entries and actions are called; units follow the entries."""

    features: tuple[str, ...]
    units: tuple[str, ...]
    actions: tuple[str, ...]


def _names(features: str, actions: str) -> Names:
    """Names from 'name:unit name …' and 'name name …'."""
    pairs = [entry.partition(":") for entry in features.split()]
    return Names(tuple(p[0] for p in pairs), tuple(p[2] for p in pairs), tuple(actions.split()))


CLASSIC_CONTROL = {
    "CartPole": _names(
        "cart_position:m cart_velocity:m/s pole_angle:rad pole_angular_velocity:rad/s", "left right"
    ),
    "Acrobot": _names(
        "cos_theta1 sin_theta1 cos_theta2 sin_theta2 theta1_velocity:rad/s theta2_velocity:rad/s",
        "torque_minus no_torque torque_plus",
    ),
    "MountainCar": _names("position velocity", "left coast right"),
    "MountainCarContinuous": _names("position velocity", "force"),
    "Pendulum": _names("cos_theta sin_theta theta_velocity:rad/s", "torque"),
}

NAMES = {**CLASSIC_CONTROL}


def known_names(environment_id: str) -> Names | None:
    """The names for a Gymnasium id of any version, or None for an environment this file does not know."""
    return NAMES.get(environment_id.rpartition("-v")[0])

"""How the states of some tasks follow each other: dynamics that are written once for numbers, arrays and enclosures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, pi
from typing import Any

import numpy as np

from diprl.program import Program
from diprl.program.signature import Discrete
from diprl.verify.closed_loop.enclosure import clip, rest_at_wall
from diprl.verify.exact.linear import Box


@dataclass(frozen=True)
class Model:
    """The dynamics of one Gymnasium environment whose observation is its state."""

    environment: str
    """Its Gymnasium id."""
    coordinates: tuple[str, ...]
    actions: int
    step: Callable[[Sequence[Any], int], list[Any]]
    """The state after one step, in the algebra of the numbers it is given."""
    reached: Box
    """Every step ends in it."""
    going_on: Box
    """States outside of it have ended their episode."""


def cart_pole_step(state: Sequence[Any], action: int) -> list[Any]:
    """One Euler step of 0.02 s: a pole of half-length 0.5 m on a cart that is pushed with 10 N."""
    position, velocity, angle, angular_velocity = state
    force = 10.0 if action == 1 else -10.0
    push = (force + 0.05 * (angular_velocity**2 * np.sin(angle))) * (1.0 / 1.1)
    inertia = (-0.05 / 1.1) * np.cos(angle) ** 2 + 2.0 / 3.0
    angular_acceleration = (9.8 * np.sin(angle) - np.cos(angle) * push) / inertia
    acceleration = push - (0.05 / 1.1) * (angular_acceleration * np.cos(angle))
    return [
        position + 0.02 * velocity,
        velocity + 0.02 * acceleration,
        angle + 0.02 * angular_velocity,
        angular_velocity + 0.02 * angular_acceleration,
    ]


def mountain_car_step(state: Sequence[Any], action: int) -> list[Any]:
    """The engine and the slope change the velocity, the velocity the position; a wall stands on the left."""
    position, velocity = state
    velocity = clip(velocity + (action - 1) * 0.001 - 0.0025 * np.cos(3.0 * position), -0.07, 0.07)
    position = clip(position + velocity, -1.2, 0.6)
    return [position, rest_at_wall(velocity, position, -1.2)]


_FALLEN = 12 * 2 * pi / 360
_CART_POLE = Model(
    "CartPole-v1",
    ("cart_position", "cart_velocity", "pole_angle", "pole_angular_velocity"),
    actions=2,
    step=cart_pole_step,
    reached=Box((-inf,) * 4, (inf,) * 4),
    going_on=Box((-2.4, -inf, -_FALLEN, -inf), (2.4, inf, _FALLEN, inf)),
)
_MOUNTAIN_CAR = Model(
    "MountainCar-v0",
    ("position", "velocity"),
    actions=3,
    step=mountain_car_step,
    reached=Box((-1.2, -0.07), (0.6, 0.07)),
    going_on=Box((-inf,) * 2, (inf,) * 2),
)
MODELS = {model.environment: model for model in (_CART_POLE, _MOUNTAIN_CAR)}


def model_of(task: str, program: Program) -> Model | None:
    """The model of a task, or None where it is not given or the program reads something else than the state."""
    model, features, actions = MODELS.get(task), program.signature.features, program.signature.actions
    if model is None or not isinstance(actions, Discrete) or len(actions.names) != model.actions:
        return None
    plain = len(features) == len(model.coordinates) and not any(feature.meaning for feature in features)
    return model if plain else None

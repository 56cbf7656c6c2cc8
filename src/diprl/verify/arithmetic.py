"""Functions that dynamics use, for plain numbers and arrays as well as for enclosures."""

from typing import Any

import numpy as np

from diprl.verify.enclosure import Enclosure

_NEARBY = 1e-9
"""A wall counts as touched this early in an enclosure, since rounding may put a simulated state onto it."""


def sine(value: Any) -> Any:
    return value.sine() if isinstance(value, Enclosure) else np.sin(value)


def cosine(value: Any) -> Any:
    return value.cosine() if isinstance(value, Enclosure) else np.cos(value)


def square(value: Any) -> Any:
    return value.square() if isinstance(value, Enclosure) else value * value


def clip(value: Any, low: float, high: float) -> Any:
    return value.clip(low, high) if isinstance(value, Enclosure) else np.clip(value, low, high)


def rest_at_wall(velocity: Any, position: Any, wall: float) -> Any:
    """A velocity that becomes zero where it points into a wall on the left that the position touches."""
    if isinstance(velocity, Enclosure):
        return velocity.stopped() if position.range()[0] <= wall + _NEARBY else velocity
    return np.where((position == wall) & (velocity < 0.0), 0.0, velocity)

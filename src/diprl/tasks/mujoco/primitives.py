"""Frozen controllers that a program blends: small tanh networks evaluated in NumPy."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.tasks.mujoco.description import Array


@dataclass(frozen=True, eq=False)
class Primitive:
    """A controller of a robot's own senses: normalisation, tanh layers, a linear output clipped to bounds."""

    name: str
    task: str
    """The training task that made it."""
    score: float
    """Its mean return on that task."""
    command: str
    """The command line that made it."""
    mean: Array
    std: Array
    layers: tuple[tuple[Array, Array], ...]
    """(weights (inputs, outputs), bias (outputs,)) from the first layer to the output."""
    low: Array
    high: Array

    def __post_init__(self) -> None:
        _check(self)

    def actions(self, observations: NDArray[Any]) -> Array:
        """The actions (n, actuators) for n observations."""
        hidden = (observations - self.mean) / self.std
        for weights, bias in self.layers[:-1]:
            hidden = np.tanh(hidden @ weights + bias)
        weights, bias = self.layers[-1]
        return np.clip(hidden @ weights + bias, self.low, self.high)


def _check(primitive: Primitive) -> None:
    """Refuse arrays that do not fit together, so that a bad file fails when read and not in a rollout."""

    def require(holds: bool, complaint: str) -> None:
        if not holds:
            raise DiprlError(f"primitive '{primitive.name}' is not valid: {complaint}")

    require(len(primitive.layers) > 0, "it has no layers")
    require(primitive.mean.ndim == 1, "its mean is not a vector")
    width = len(primitive.mean)
    require(primitive.std.shape == (width,), "mean and std differ in length")
    for number, (weights, bias) in enumerate(primitive.layers):
        fits = weights.ndim == 2 and weights.shape[0] == width and bias.shape == weights.shape[1:]
        require(fits, f"layer {number} has weights {weights.shape} and bias {bias.shape} on {width} inputs")
        width = weights.shape[1]
    bounded = primitive.low.shape == primitive.high.shape == (width,)
    require(bounded, f"its action bounds do not match its {width} outputs")
    require(all(np.isfinite(array).all() for array in _arrays(primitive)), "it holds numbers that are not finite")
    require(bool((primitive.std > 0.0).all()), "std must be positive")


def _arrays(primitive: Primitive) -> list[Array]:
    layers = [array for layer in primitive.layers for array in layer]
    return [primitive.mean, primitive.std, primitive.low, primitive.high, *layers]

"""Frozen controllers whose actions a program blends: small tanh networks, evaluated in NumPy."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Network:
    """A controller of a robot's own senses: normalisation, tanh layers, a linear output clipped to bounds."""

    name: str
    """The primitive that it is in programs."""
    mean: Array
    std: Array
    layers: tuple[tuple[Array, Array], ...]
    """(weights (inputs, outputs), bias (outputs,)) from the first layer to the output."""
    low: Array
    high: Array

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together, so that a bad file fails when read and not in a rollout."""

        def require(holds: bool, complaint: str) -> None:
            if not holds:
                raise DiprlError(f"primitive '{self.name}' is not valid: {complaint}")

        require(len(self.layers) > 0, "it has no layers")
        require(self.mean.ndim == 1, "its mean is not a vector")
        width = len(self.mean)
        require(self.std.shape == (width,), "mean and std differ in length")
        for number, (weights, bias) in enumerate(self.layers):
            fits = weights.ndim == 2 and weights.shape[0] == width and bias.shape == weights.shape[1:]
            require(fits, f"layer {number} has weights {weights.shape} and bias {bias.shape} on {width} inputs")
            width = weights.shape[1]
        bounded = self.low.shape == self.high.shape == (width,)
        require(bounded, f"its action bounds do not match its {width} outputs")
        numbers = [self.mean, self.std, *(array for layer in self.layers for array in layer)]
        require(all(np.isfinite(array).all() for array in numbers), "it holds numbers that are not finite")
        require(bool((self.std > 0.0).all()), "std must be positive")
        require(bool((self.low <= self.high).all()), "its lowest actions must not exceed its highest")

    def arrays(self) -> dict[str, Array]:
        """All numbers by name, those of layers numbered from the first."""
        found = {key: getattr(self, key) for key in ("mean", "std", "low", "high")}
        for number, (weights, bias) in enumerate(self.layers):
            found |= {f"weights_{number}": weights, f"bias_{number}": bias}
        return found

    def actions(self, senses: NDArray[Any]) -> Array:
        """The actions (n, actuators) for n vectors of senses."""
        hidden = (senses - self.mean) / self.std
        for weights, bias in self.layers[:-1]:
            hidden = np.tanh(hidden @ weights + bias)
        weights, bias = self.layers[-1]
        return np.clip(hidden @ weights + bias, self.low, self.high)

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
        _check(self)

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


def _check(network: Network) -> None:
    """Refuse arrays that do not fit together, so that a bad file fails when read and not in a rollout."""

    def require(holds: bool, complaint: str) -> None:
        if not holds:
            raise DiprlError(f"primitive '{network.name}' is not valid: {complaint}")

    require(len(network.layers) > 0, "it has no layers")
    require(network.mean.ndim == 1, "its mean is not a vector")
    width = len(network.mean)
    require(network.std.shape == (width,), "mean and std differ in length")
    for number, (weights, bias) in enumerate(network.layers):
        fits = weights.ndim == 2 and weights.shape[0] == width and bias.shape == weights.shape[1:]
        require(fits, f"layer {number} has weights {weights.shape} and bias {bias.shape} on {width} inputs")
        width = weights.shape[1]
    bounded = network.low.shape == network.high.shape == (width,)
    require(bounded, f"its action bounds do not match its {width} outputs")
    numbers = [network.mean, network.std, *(array for layer in network.layers for array in layer)]
    require(all(np.isfinite(array).all() for array in numbers), "it holds numbers that are not finite")
    require(bool((network.std > 0.0).all()), "std must be positive")
    require(bool((network.low <= network.high).all()), "its lowest actions must not exceed its highest")

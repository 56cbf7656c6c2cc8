"""Frozen controllers that a program blends: small tanh networks evaluated in NumPy, and their files."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.system.storage import StorageError, load_arrays, previous, save_arrays
from diprl.tasks.mujoco.description import Array

SUFFIX = ".primitive"
FACTS = {"name": str, "task": str, "score": float, "command": str}
"""What a file says about its primitive, beside the arrays."""


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
    finite = all(np.isfinite(array).all() for array in arrays_of(primitive).values())
    require(finite, "it holds numbers that are not finite")
    require(bool((primitive.std > 0.0).all()), "std must be positive")


def arrays_of(primitive: Primitive) -> dict[str, Array]:
    """All numbers of a primitive under the names that its file gives them."""
    arrays = {key: getattr(primitive, key) for key in ("mean", "std", "low", "high")}
    for number, (weights, bias) in enumerate(primitive.layers):
        arrays[f"weights_{number}"], arrays[f"bias_{number}"] = weights, bias
    return arrays


def save_primitive(primitive: Primitive, path: Path) -> None:
    """Write the primitive in single precision; no older one stays to stand in for it."""
    arrays = {key: value.astype(np.float32) for key, value in arrays_of(primitive).items()}
    save_arrays(path, arrays, {key: kind(getattr(primitive, key)) for key, kind in FACTS.items()})
    previous(path).unlink(missing_ok=True)


def load_primitive(path: Path) -> Primitive:
    """Read a primitive, or say in one sentence what is wrong with the file."""
    try:
        arrays, facts = load_arrays(path)
    except StorageError as error:
        raise DiprlError(f"{error}, so not a readable primitive file: train it again") from error
    try:
        return _from_parts(facts, arrays)
    except DiprlError as error:
        raise DiprlError(f"{path}: {error}") from error


def _from_parts(facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Primitive:
    """The primitive, if facts and arrays are exactly those of one."""
    layers = [(f"weights_{number}", f"bias_{number}") for number in range((len(arrays) - 4) // 2)]
    names = {"mean", "std", "low", "high", *(name for layer in layers for name in layer)}
    fits = facts.keys() == FACTS.keys() and all(type(facts[key]) is kind for key, kind in FACTS.items())
    if not fits or arrays.keys() != names or any(array.dtype != np.float32 for array in arrays.values()):
        raise DiprlError("its facts and its arrays are not those of a primitive")
    exact: dict[str, Any] = {key: value.astype(np.float64) for key, value in arrays.items()}
    pairs = tuple((exact.pop(weights), exact.pop(bias)) for weights, bias in layers)
    return Primitive(**facts, **exact, layers=pairs)


def data_folder() -> Path:
    """Where the installed package keeps its primitives."""
    return Path(__file__).parent / "data"


@cache
def bundled_primitive(name: str) -> Primitive:
    """A primitive that ships with the package."""
    path = data_folder() / f"{name}{SUFFIX}"
    if not path.is_file():
        raise DiprlError(f"the primitive '{name}' is not bundled; train it with: diprl primitives train {name}")
    return load_primitive(path)

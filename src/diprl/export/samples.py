"""Observations that tell two programs apart: random ones, and many on and next to thresholds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diprl.program import Condition, Primitives, Program
from diprl.program.ast import conditions
from diprl.program.evaluate import linear_batch
from diprl.program.networks import Network

Array = NDArray[np.float64]

_ULPS = np.arange(-3, 4)
_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1.7e308)


@dataclass(frozen=True)
class Samples:
    """A batch of inputs for a program, and where they come from."""

    features: Array
    primitive_actions: Array | None
    senses: Array | None
    description: str

    def __len__(self) -> int:
        return len(self.features)


def draw(
    program: Program, random: int = 2000, near: int = 1000, seed: int = 0, networks: Sequence[Network] = ()
) -> Samples:
    """Random observations, others within a few floats of a threshold, and those with infinities or NaN."""
    generator = np.random.default_rng(seed)
    spread = _random(program, random, generator)
    close, exact = _near(program, near, generator)
    special = generator.choice(_SPECIAL, size=(min(200, random), len(program.signature.features)))
    special = np.where(generator.random(special.shape) < 0.5, special, spread[: len(special)])
    features = np.concatenate([spread, close, special])
    actions, count = program.signature.actions, len(features)
    blended = isinstance(actions, Primitives)
    primitives = generator.normal(size=(count, len(actions.names), len(actions.low))) if blended else None
    senses = generator.normal(size=(count, len(networks[0].mean))) if networks else None
    description = f"{random} random, {len(close)} near a threshold ({exact} exactly on it)"
    return Samples(features, primitives, senses, f"{description}, {len(special)} with special numbers")


def _random(program: Program, count: int, generator: np.random.Generator) -> Array:
    """Uniform within bounds where there are any, else of every order of magnitude near one."""
    columns = []
    for feature in program.signature.features:
        if np.isfinite(feature.high - feature.low):
            columns.append(generator.uniform(feature.low, feature.high, count))
        else:
            magnitude = 10.0 ** generator.uniform(-3.0, 2.0, count)
            columns.append(np.clip(generator.choice([-1.0, 1.0], count) * magnitude, feature.low, feature.high))
    return np.stack(columns, axis=1) if columns else np.empty((count, 0))


def _near(program: Program, count: int, generator: np.random.Generator) -> tuple[Array, int]:
    """Observations moved along one feature onto or next to a threshold, and how many are exactly on it."""
    readable = [condition for condition in conditions(program.root) if any(condition.weights)]
    if not readable:
        return _random(program, 0, generator), 0
    blocks, exact = [], 0
    for condition in readable:
        features = _random(program, -(-count // len(readable)), generator)
        features[::2] = features[::2].round(1)
        with np.errstate(all="ignore"):
            move_onto(features, condition, generator)
            exact += int((linear_batch(condition.weights, condition.bias, features.T) == 0.0).sum())
        blocks.append(features)
    return np.concatenate(blocks), exact


def move_onto(features: Array, condition: Condition, generator: np.random.Generator) -> None:
    """Solve the condition for one feature that it reads; two of three rows then step by a few floats."""
    weights = np.array(condition.weights)
    chosen = int(generator.choice(np.flatnonzero(weights)))
    others = features.copy()
    others[:, chosen] = 0.0
    place = -(others @ weights + condition.bias) / weights[chosen]
    steps = generator.choice(_ULPS, size=len(place)) * (np.arange(len(place)) % 3 > 0)
    features[:, chosen] = place + steps * np.spacing(place)

"""Boxes of states: an interval per feature."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from diprl.program.signature import Signature
from diprl.verify.exact.constraint import Constraint

State = tuple[float, ...]


@dataclass(frozen=True)
class Box:
    """An interval per feature, in the signature's order; bounds may be infinite."""

    low: State
    high: State

    @property
    def finite(self) -> bool:
        return all(map(isfinite, (*self.low, *self.high)))

    def contains(self, point: Sequence[float]) -> bool:
        return all(low <= value <= high for low, value, high in zip(self.low, point, self.high, strict=True))

    def clamp(self, point: Sequence[float]) -> State:
        rows = zip(point, self.low, self.high, strict=True)
        return tuple(min(max(value, low), high) for value, low, high in rows)

    def constraints(self) -> list[Constraint]:
        found = []
        for index, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            unit = tuple(Fraction(int(index == other)) for other in range(len(self.low)))
            if low > -inf:
                found.append(Constraint(unit, -Fraction(low), strict=False))
            if high < inf:
                found.append(Constraint(tuple(-entry for entry in unit), Fraction(high), strict=False))
        return found

    def samples(self, count: int) -> NDArray[np.float64]:
        """Random states of a finite box, one per row, the same ones each time."""
        share = np.random.default_rng(0).uniform(size=(count, len(self.low)))
        return np.clip(share * self.high + (1.0 - share) * self.low, self.low, self.high)

    def text(self, names: Sequence[str]) -> str:
        rows = zip(names, self.low, self.high, strict=True)
        sides = [f"{name} in [{low:g}, {high:g}]" for name, low, high in rows if low > -inf or high < inf]
        return ", ".join(sides) or "all states"


def bounds_of(signature: Signature) -> Box:
    """What the environment promises about the features."""
    features = signature.features
    return Box(tuple(feature.low for feature in features), tuple(feature.high for feature in features))

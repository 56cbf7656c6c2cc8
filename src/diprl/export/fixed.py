"""Programs in whole numbers: 32-bit inputs and weights, 64-bit sums, and a proof of how little that changes.

A feature x is given as X = round(x · 2^s). A condition w · x + b > 0 becomes W · X + B > 0 in whole numbers, where the
exact sum stands for itself times 2^-f. Only inputs, weights and the bias are rounded, so over the range of the features
the error has a bound in rational numbers. Where the interpreter's value of every condition on the way is further from
zero than the condition's margin, both take the same branch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import frexp, inf, isfinite, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.export.guard import PLAIN, Guard
from diprl.export.structure import read_features
from diprl.program import Condition, Discrete, Node, Program
from diprl.program.ast import assemble, conditions, flatten
from diprl.program.evaluate import asked_batch

LARGEST = 2**31 - 1
"""Inputs and weights lie between this and its opposite."""
_LARGEST_SUM = 2**62
_BITS = 30
"""Bits that the largest input and the largest weight use, sign aside."""


@dataclass(frozen=True)
class FixedPoint:
    """A program in whole numbers."""

    root: Node
    """The program's tree with whole numbers."""
    bits: tuple[int, ...]
    """The s of each feature."""
    margins: tuple[float, ...]
    """For each condition in printing order, how far from zero the interpreter's value has to be."""

    def inputs(self, features: NDArray[Any]) -> NDArray[np.int32]:
        """Observations as whole numbers, rounded to nearest; what does not fit is limited."""
        with np.errstate(all="ignore"):
            scaled = np.rint(np.ldexp(np.asarray(features, np.float64), np.array(self.bits)))
        return np.clip(np.nan_to_num(scaled), -LARGEST, LARGEST).astype(np.int32)

    def outside(self, program: Program, features: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which observations have every condition on their way further from zero than its margin."""
        far = np.ones(len(features), bool)
        asked = asked_batch(program.root, np.ascontiguousarray(features.T))
        for margin, (_, rows, values) in zip(self.margins, asked, strict=True):
            far[rows] &= np.abs(values) > margin
        return far


def fixed_point(program: Program, guard: Guard = PLAIN) -> FixedPoint:
    """The program in whole numbers, with its margins; raises where there is none, and says why."""
    if not isinstance(program.signature.actions, Discrete):
        raise DiprlError("fixed point is for programs that choose among actions, not for outputs that are numbers")
    limits, read = guard.watched(program, fixed=True)["OUT_OF_BOUNDS"], read_features(program.root)
    sizes = [max(map(abs, pair)) for pair in limits]
    for index, size in enumerate(sizes):
        if not isfinite(size) and index in read:
            name = program.signature.feature_names[index]
            raise DiprlError(f"{name} has no range, which fixed point needs: give it one in the task file")
    sizes = [size if isfinite(size) else 0.0 for size in sizes]
    bits = tuple(_BITS - frexp(size)[1] for size in sizes)
    found = [_whole_condition(item, bits, sizes) for item in conditions(program.root)]
    rounded = iter(condition for condition, _ in found)
    root = assemble(next(rounded) if isinstance(item, Condition) else item for item in flatten(program.root))
    return FixedPoint(root, bits, tuple(margin for _, margin in found))


def whole(value: float, bits: int) -> int:
    """A number as a fixed-point one, rounded to nearest and limited to 32 bits."""
    return max(-LARGEST, min(LARGEST, round(Fraction(value) * _power(bits))))


def _whole_condition(condition: Condition, bits: Sequence[int], sizes: Sequence[float]) -> tuple[Condition, float]:
    """The condition with as many bits as fit, and its margin."""
    bias, weights, largest = Fraction(condition.bias), [*map(Fraction, condition.weights)], [*map(Fraction, sizes)]
    places = [s + _BITS - frexp(w)[1] for w, s in zip(condition.weights, bits, strict=True) if w]
    scale: int = min([2 * _BITS - frexp(condition.bias)[1], *places])
    while True:
        whole_weights = [round(w * _power(scale - s)) for w, s in zip(weights, bits, strict=True)]
        whole_bias = round(bias * _power(scale))
        inputs = [round(size * _power(s)) + 1 for size, s in zip(largest, bits, strict=True)]
        if sum(abs(w) * x for w, x in zip(whole_weights, inputs, strict=True)) + abs(whole_bias) <= _LARGEST_SUM:
            break
        scale -= 1
    # Rounded bias, rounded weights over the range, and inputs that are off by half a unit.
    error = abs(bias - whole_bias * _power(-scale)) + sum(map(abs, whole_weights)) * _power(-scale) / 2
    for weight, rounded, s, size in zip(weights, whole_weights, bits, largest, strict=True):
        error += abs(weight - rounded * _power(s - scale)) * size
    # What the interpreter's own n products and n sums in 64-bit floats may be off.
    total = sum((abs(w) * size for w, size in zip(weights, largest, strict=True)), abs(bias))
    rounding = 2 * (2 * len(weights) + 1) * (total * _power(-53) + _power(-1074))
    margin = nextafter(float(max(error, rounding) + rounding), inf)
    return Condition(tuple(whole_weights), whole_bias), margin


def _power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent

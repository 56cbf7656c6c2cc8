"""Programs in whole numbers: 32-bit inputs and weights, 64-bit sums, and a proof of how little that changes.

A feature x is given as X = round(x · 2^s). A linear form w · x + b becomes the exact sum W · X + B of whole numbers,
which stands for that sum times 2^-f. Only inputs, weights and biases are rounded, so the error of the form over the
range of the features has a bound in rational numbers. Where the interpreter's value of every condition on the way is
further from zero than the condition's margin, both take the same branch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import frexp, inf, isfinite, nextafter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.export.guard import PLAIN, Guard
from diprl.export.structure import read_features
from diprl.program import Affine, Condition, Continuous, Node, Primitives, Program
from diprl.program.ast import assemble, flatten, number_rows
from diprl.program.evaluate import linear_batch, terminal_at
from diprl.program.paths import descend

LARGEST = 2**31 - 1
"""Inputs, outputs and weights lie between this and its opposite."""
_LARGEST_SUM = 2**62
_BITS = 30
"""Bits that the largest input and the largest weight use, sign aside."""


@dataclass(frozen=True)
class Scaled(Affine):
    """An affine terminal in whole numbers; each entry is divided by a power of two to become an output."""

    divisors: tuple[int, ...] = ()


@dataclass(frozen=True)
class FixedPoint:
    """A program in whole numbers."""

    root: Node
    """The program's tree with whole numbers."""
    feature_bits: tuple[int, ...]
    """The s of each feature."""
    output_bits: tuple[int, ...]
    """The same of each output."""
    margins: tuple[float, ...]
    """For each condition in printing order, how far from zero the interpreter's value has to be."""
    output_errors: tuple[float, ...]
    """By how much each output may differ from the interpreter's on the same branch."""

    def inputs(self, features: NDArray[Any]) -> NDArray[np.int32]:
        """Observations as whole numbers, rounded to nearest; what does not fit is limited."""
        with np.errstate(all="ignore"):
            scaled = np.rint(np.ldexp(np.asarray(features, np.float64), np.array(self.feature_bits)))
        return np.clip(np.nan_to_num(scaled), -LARGEST, LARGEST).astype(np.int32)

    def act(self, program: Program, inputs: Sequence[int]) -> Any:
        """What the emitted code does with one observation, in Python's unbounded whole numbers."""
        leaf, actions = terminal_at(self.root, inputs), program.signature.actions
        if not isinstance(leaf, Scaled) or not isinstance(actions, Continuous):
            return leaf.action  # type: ignore[union-attr]
        found = []
        for entry, row in enumerate(number_rows(leaf)):
            total = sum(int(weight) * value for weight, value in zip(row, (*inputs, 1), strict=True))
            value = abs(total) // leaf.divisors[entry] * (1 if total > 0 else -1)
            low, high = (whole(end[entry], self.output_bits[entry]) for end in (actions.low, actions.high))
            found.append(max(low, min(high, value)))
        return found

    def outside(self, program: Program, features: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which observations have every condition on their way further from zero than its margin."""
        far, columns, margins = np.ones(len(features), bool), np.ascontiguousarray(features.T), iter(self.margins)

        def split(condition: Condition, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
            value = linear_batch(condition.weights, condition.bias, columns[:, rows])
            far[rows] &= np.abs(value) > next(margins)
            return rows[value > 0.0], rows[~(value > 0.0)]

        for _ in descend(program.root, np.arange(len(features)), split):
            pass
        return far


def whole(value: float, bits: int) -> int:
    """A number as a fixed-point one, rounded to nearest and limited to 32 bits."""
    if not isfinite(value):
        return LARGEST if value > 0 else -LARGEST
    return max(-LARGEST, min(LARGEST, round(Fraction(value) * _power(bits))))


def fixed_point(program: Program, guard: Guard = PLAIN) -> FixedPoint:
    """The program in whole numbers, with its margins; raises where a range is missing."""
    actions, (_, ranges) = program.signature.actions, guard.watched(program, fixed=True)[0]
    if isinstance(actions, Primitives):
        raise DiprlError("programs that blend primitives have no fixed-point form")
    read = read_features(program.root)
    sizes = [max(map(abs, pair)) if index in read else 0.0 for index, pair in enumerate(ranges)]
    for index, size in enumerate(sizes):
        if not isfinite(size):
            name = program.signature.feature_names[index]
            raise DiprlError(f"{name} has no range, which fixed-point numbers need: give it one in the task file")
    bits = tuple(_BITS - frexp(size)[1] for size in sizes)
    output_bits = _output_bits(program, sizes)
    items, margins, errors = [], [], [0.0] * len(output_bits)
    for item in flatten(program.root):
        if isinstance(item, Condition):
            form = _whole_form(number_rows(item)[0], bits, sizes)
            items.append(Condition(form.weights, form.bias))
            margins.append(_rounded_up(max(form.error, form.rounding) + form.rounding))
        elif isinstance(item, Affine):
            forms = [_whole_form(row, bits, sizes, 2 * _BITS) for row in number_rows(item)]
            forms = [
                _whole_form(row, bits, sizes, min(form.bits, out + _BITS))
                for row, form, out in zip(number_rows(item), forms, output_bits, strict=True)
            ]
            divisors = tuple(2 ** (form.bits - out) for form, out in zip(forms, output_bits, strict=True))
            items.append(Scaled(tuple(form.weights for form in forms), tuple(form.bias for form in forms), divisors))
            for entry, (form, out) in enumerate(zip(forms, output_bits, strict=True)):
                units = Fraction(3, 2) * _power(-out)
                errors[entry] = max(errors[entry], _rounded_up(form.error + form.rounding + units))
        else:
            items.append(item)
    return FixedPoint(assemble(items), bits, output_bits, tuple(margins), tuple(errors))


class _Form(NamedTuple):
    """A linear form in whole numbers."""

    weights: tuple[int, ...]
    bias: int
    bits: int
    error: Fraction
    """How far its value may be from the exact one, for inputs rounded to nearest."""
    rounding: Fraction
    """How far the value of 64-bit floats may be from the exact one."""


def _whole_form(row: Sequence[float], feature_bits: Sequence[int], sizes: Sequence[float], most: int = 10_000) -> _Form:
    """The form with as many bits as fit, at most so many."""
    *weights, bias = map(Fraction, row)
    largest = [Fraction(size) for size in sizes]
    inputs = [round(size * _power(s)) + 1 for size, s in zip(largest, feature_bits, strict=True)]
    exponents = [s + _BITS - frexp(w)[1] for w, s in zip(row, feature_bits, strict=False) if w]
    bits = min([most, *exponents, *([2 * _BITS - frexp(row[-1])[1]] if bias else [])])
    while True:
        found = [round(w * _power(bits - s)) for w, s in zip(weights, feature_bits, strict=True)]
        total = sum(abs(w) * x for w, x in zip(found, inputs, strict=True)) + abs(round(bias * _power(bits)))
        if total <= _LARGEST_SUM:
            break
        bits -= 1
    error = abs(bias - round(bias * _power(bits)) * _power(-bits))
    for weight, w, s, size in zip(weights, found, feature_bits, largest, strict=True):
        error += abs(weight - w * _power(s - bits)) * size + abs(w) * _power(-bits) / 2
    exact = sum((abs(w) * size for w, size in zip(weights, largest, strict=True)), abs(bias))
    operations = 2 * (2 * sum(map(bool, weights)) + 1)
    rounding = operations * (exact * Fraction(1, 2**53) + Fraction(1, 2**1074))
    return _Form(tuple(found), round(bias * _power(bits)), bits, error, rounding)


def _output_bits(program: Program, sizes: Sequence[float]) -> tuple[int, ...]:
    """The bits of each output: its bounds fit, or what the program can compute where it has none."""
    actions = program.signature.actions
    if not isinstance(actions, Continuous):
        return ()
    leaves = [number_rows(item) for item in flatten(program.root) if isinstance(item, Affine)]
    found = []
    for entry, (low, high) in enumerate(zip(actions.low, actions.high, strict=True)):
        rows = [leaf[entry] for leaf in leaves]
        reach = max(sum(abs(w) * size for w, size in zip(row, (*sizes, 1.0), strict=True)) for row in rows)
        bound = min(max(abs(low), abs(high)), reach)
        smallest = min(
            _whole_form(row, [_BITS - frexp(size)[1] for size in sizes], sizes, 2 * _BITS).bits for row in rows
        )
        found.append(min(_BITS - frexp(bound)[1], smallest))
    return tuple(found)


def _power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def _rounded_up(value: Fraction) -> float:
    return nextafter(float(value), inf)

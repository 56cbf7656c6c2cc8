"""A program's numbers as one vector in comparable units, and back: what a search over programs moves.

Each condition is written over standardised features and scaled to unit length, since neither units nor the scale of a
condition change what it decides. Outputs of affine terminals are measured in units of their range.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.program.ast import Act, Affine, Blend, Condition, Item, assemble, flatten
from diprl.program.signature import Discrete

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Point:
    """A program of fixed shape as search sees it."""

    numbers: Vector
    actions: NDArray[np.int64]
    """The action at each leaf in printing order; empty where leaves hold numbers instead."""


@dataclass(frozen=True)
class Moments:
    """Mean and deviation of each feature over visited states."""

    mean: Vector
    scale: Vector


def measure_moments(features: NDArray[np.floating]) -> Moments:
    """Moments of visited states; a constant feature keeps its unit."""
    spread = np.maximum(features.std(axis=0), 0.05 * np.ptp(features, axis=0)).astype(np.float64)
    return Moments(features.mean(axis=0, dtype=np.float64), np.where(spread > 1e-9, spread, 1.0))


def to_point(program: Program, moments: Moments) -> Point:
    """All numbers and actions of a program, conditions and terminals in printing order."""
    reach = output_reach(program)
    numbers = [_numbers(item, moments, reach) for item in flatten(program.root)]
    actions = [item.action for item in flatten(program.root) if isinstance(item, Act)]
    return Point(np.concatenate(numbers), np.array(actions, np.int64))


def from_point(program: Program, point: Point, moments: Moments) -> Program:
    """A program of the same shape with other numbers and actions."""
    reader = _Reader(point, moments, output_reach(program))
    return program.with_root(assemble(reader.item(item) for item in flatten(program.root)))


def output_reach(program: Program) -> Vector:
    """Half-width of each continuous output's range, 1 where it is unbounded."""
    actions = program.signature.actions
    if isinstance(actions, Discrete):
        return np.zeros(0)
    width = (np.asarray(actions.high) - np.asarray(actions.low)) / 2
    return np.where(np.isfinite(width) & (width > 0), width, 1.0)


def _numbers(item: Item, moments: Moments, reach: Vector) -> Vector:
    if isinstance(item, Condition):
        weights = np.asarray(item.weights) * moments.scale
        row = np.append(weights, item.bias + np.asarray(item.weights) @ moments.mean)
        return row / max(float(np.linalg.norm(row)), 1e-12)
    if isinstance(item, Affine):
        weights = np.asarray(item.weights)
        offset = np.asarray(item.bias) + weights @ moments.mean
        return np.concatenate([(weights * moments.scale / reach[:, None]).ravel(), offset / reach])
    if isinstance(item, Blend):
        return np.log(np.maximum(np.asarray(item.weights), 1e-3))
    return np.zeros(0)


class _Reader:
    """Reads a point from front to back, in the printing order of the program it belongs to."""

    def __init__(self, point: Point, moments: Moments, reach: Vector) -> None:
        self.point, self.moments, self.reach = point, moments, reach
        self.at, self.actions = 0, iter(point.actions.tolist())

    def take(self, count: int) -> Vector:
        self.at += count
        return self.point.numbers[self.at - count : self.at]

    def item(self, old: Item) -> Item:
        if isinstance(old, Condition):
            return self.condition(old)
        if isinstance(old, Affine):
            return self.affine()
        if isinstance(old, Blend):
            logits = self.take(len(old.weights))
            shares = np.exp(logits - logits.max())
            return Blend(tuple((shares / shares.sum()).tolist()))
        return Act(next(self.actions))

    def condition(self, old: Condition) -> Condition:
        """New numbers for a condition; what it does not read it goes on not reading."""
        row = self.take(len(self.moments.mean) + 1)
        weights = np.where(np.asarray(old.weights) == 0.0, 0.0, row[:-1] / self.moments.scale)
        bias = 0.0 if old.bias == 0.0 else float(row[-1] - weights @ self.moments.mean)
        return Condition(tuple(weights.tolist()), bias)

    def affine(self) -> Affine:
        outputs, features = len(self.reach), len(self.moments.mean)
        slopes = self.take(outputs * features).reshape(outputs, features)
        weights = slopes * self.reach[:, None] / self.moments.scale
        offset = self.take(outputs) * self.reach - weights @ self.moments.mean
        return Affine(tuple(map(tuple, weights.tolist())), tuple(offset.tolist()))

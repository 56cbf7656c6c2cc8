"""A program's numbers as one vector in comparable units, and back: what a search over programs moves.

Each condition is written over standardised features and scaled to unit length, since neither units nor the scale of a
condition change what it decides. Outputs of affine terminals are measured in units of their range.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.program.ast import Act, Affine, Blend, Condition, Item, assemble, flatten
from diprl.program.signature import Discrete, action_range

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Point:
    """A program of fixed shape as search sees it."""

    numbers: Vector
    actions: NDArray[np.int64]
    """The action at each leaf in printing order; empty where leaves hold numbers instead."""


class Coordinates:
    """The points around one program, in units of the states that it visits."""

    def __init__(self, program: Program, views: NDArray[np.floating]) -> None:
        """A feature that is constant over the views keeps its unit."""
        spread = np.maximum(views.std(axis=0), 0.05 * np.ptp(views, axis=0)).astype(np.float64)
        self.mean, self.scale = views.mean(axis=0, dtype=np.float64), np.where(spread > 1e-9, spread, 1.0)
        self.states = (views - self.mean) / self.scale
        self.program, self.reach = program, output_reach(program)

    def point(self) -> Point:
        """All numbers and actions of the program, conditions and terminals in printing order."""
        items = list(flatten(self.program.root))
        actions = [item.action for item in items if isinstance(item, Act)]
        return Point(np.concatenate([self._numbers(item) for item in items]), np.array(actions, np.int64))

    def program_at(self, point: Point) -> Program:
        """A program of the same shape with other numbers and actions."""
        return self.program.with_root(assemble(self._items(point)))

    def _numbers(self, item: Item) -> Vector:
        if isinstance(item, Act):
            return np.zeros(0)
        weights = np.asarray(item.weights)
        if isinstance(item, Blend):
            return np.log(np.maximum(weights, 1e-3))
        offset = np.asarray(item.bias) + weights @ self.mean
        if isinstance(item, Affine):
            return np.append(weights * self.scale / self.reach[:, None], offset / self.reach)
        row = np.append(weights * self.scale, offset)
        return row / max(float(np.linalg.norm(row)), 1e-12)

    def _items(self, point: Point) -> Iterator[Item]:
        """The conditions and terminals of the point, read from front to back."""
        used, actions = 0, iter(point.actions.tolist())
        for old in flatten(self.program.root):
            if isinstance(old, Act):
                yield Act(next(actions))
                continue
            size = np.size(old.weights) + (0 if isinstance(old, Blend) else np.size(old.bias))
            yield self._item(old, point.numbers[used : used + size])
            used += size

    def _item(self, old: Condition | Blend | Affine, numbers: Vector) -> Item:
        """New numbers for a condition or terminal; what a condition does not read it goes on not reading."""
        if isinstance(old, Blend):
            shares = np.exp(numbers - numbers.max())
            return Blend(tuple((shares / shares.sum()).tolist()))
        if isinstance(old, Condition):
            weights = np.where(np.asarray(old.weights) == 0.0, 0.0, numbers[:-1] / self.scale)
            bias = 0.0 if old.bias == 0.0 else float(numbers[-1] - weights @ self.mean)
            return Condition(tuple(weights.tolist()), bias)
        slopes, offsets = np.split(numbers, [-len(self.reach)])
        weights = slopes.reshape(len(self.reach), -1) * self.reach[:, None] / self.scale
        return Affine(tuple(map(tuple, weights.tolist())), tuple((offsets * self.reach - weights @ self.mean).tolist()))


def output_reach(program: Program) -> Vector:
    """Half-width of each continuous output's range, 1 where it is unbounded."""
    actions = program.signature.actions
    if isinstance(actions, Discrete):
        return np.zeros(0)
    reach = np.asarray(action_range(actions)[1])
    return np.where(reach > 0, reach, 1.0)

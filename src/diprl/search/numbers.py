"""A program's numbers as one vector in comparable units, and back: what a search over numbers moves.

Each condition is written over standardised features and scaled to unit length, since neither units nor the scale of a
condition change what it decides. Outputs of affine terminals are measured in units of their range. A number that is
zero is not part of the vector and stays zero.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.program.ast import Act, Affine, Blend, Condition, Item, assemble, flatten
from diprl.program.signature import Discrete, action_range

Vector = NDArray[np.float64]
SMALLEST_SHARE = 1e-3
"""Of a primitive in a blend."""


class Coordinates:
    """Programs of one shape around a given one, in units of the states that it visits."""

    def __init__(self, program: Program, views: NDArray[np.floating]) -> None:
        """A feature that is constant over the views keeps its unit."""
        spread = np.maximum(views.std(axis=0), 0.05 * np.ptp(views, axis=0)).astype(np.float64)
        self.mean, self.scale = views.mean(axis=0, dtype=np.float64), np.where(spread > 1e-9, spread, 1.0)
        self.program, self.reach = program, output_reach(program)

    def vector(self) -> Vector:
        """All numbers of the program, conditions and terminals in printing order."""
        return np.concatenate([self._numbers(item) for item in flatten(self.program.root)])

    def program_at(self, vector: Vector) -> Program:
        """The program of the same shape with these numbers."""
        return self.program.with_root(assemble(self._items(vector)))

    def _numbers(self, item: Item) -> Vector:
        if isinstance(item, Act):
            return np.zeros(0)
        weights = np.asarray(item.weights)
        if isinstance(item, Blend):
            return np.log(np.maximum(weights, SMALLEST_SHARE))
        bias = np.atleast_1d(item.bias)
        offset = bias + np.atleast_1d(weights @ self.mean)
        unit = self.reach[:, None] if isinstance(item, Affine) else 1.0
        slopes = np.atleast_2d(weights * self.scale / unit)
        numbers = np.append(slopes[slopes != 0.0], (offset / np.ravel(unit))[bias != 0.0])
        return numbers if isinstance(item, Affine) else numbers / max(float(np.linalg.norm(numbers)), 1e-12)

    def _items(self, vector: Vector) -> Iterator[Item]:
        """The conditions and terminals with the vector's numbers, read from front to back."""
        used = 0
        for old in flatten(self.program.root):
            size = len(self._numbers(old))
            yield self._item(old, vector[used : used + size])
            used += size

    def _item(self, old: Item, numbers: Vector) -> Item:
        if isinstance(old, Act):
            return old
        if isinstance(old, Blend):
            shares = np.exp(numbers - numbers.max())
            return Blend(tuple((shares / shares.sum()).tolist()))
        bias = np.atleast_1d(np.asarray(old.bias, np.float64))
        unit = self.reach[:, None] if isinstance(old, Affine) else np.ones((1, 1))
        read = np.atleast_2d(np.asarray(old.weights)) != 0.0
        weights = np.zeros(read.shape)
        weights[read] = numbers[: read.sum()]
        weights = weights * unit / self.scale
        offset = np.zeros(len(bias))
        offset[bias != 0.0] = numbers[read.sum() :]
        bias = np.where(bias != 0.0, offset * unit[:, 0] - weights @ self.mean, 0.0)
        if isinstance(old, Condition):
            return Condition(tuple(weights[0].tolist()), float(bias[0]))
        return Affine(tuple(map(tuple, weights.tolist())), tuple(bias.tolist()))


def output_reach(program: Program) -> Vector:
    """Half-width of each continuous output's range, 1 where it is unbounded."""
    actions = program.signature.actions
    if isinstance(actions, Discrete):
        return np.zeros(0)
    reach = np.asarray(action_range(actions)[1])
    return np.where(reach > 0, reach, 1.0)

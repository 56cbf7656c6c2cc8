"""Many parallelotopes at once: low <= rows · x <= high, each with its own rows, and how rows are chosen.

The choice matters for tightness only: whatever the rows are, the checker decides whether a set contains an image.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diprl.verify.closed_loop.forms import Array, Form

Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]

_SLACK = 1e-9
"""How much wider than computed a set is made, relative to its size: more than the checker rounds outwards."""


@dataclass(frozen=True, eq=False)
class Sets:
    """Parallelotopes of the same dimension."""

    rows: Array
    """[set, row, state]"""
    low: Array
    """[set, row]"""
    high: Array

    @staticmethod
    def joined(parts: "Sequence[Sets]") -> "Sets":
        return Sets(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "low", "high")))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> "Sets":
        return Sets(self.rows[index], self.low[index], self.high[index])

    @property
    def centre(self) -> Array:
        """[set, state]"""
        middle = ((self.low + self.high) / 2.0)[..., None]
        return np.asarray(np.linalg.solve(self.rows, middle)[..., 0], np.float64)

    @property
    def generators(self) -> Array:
        """[set, state, row]"""
        return np.linalg.inv(self.rows) * ((self.high - self.low) / 2.0)[:, None, :]


def boxes(low: Array, high: Array) -> Sets:
    """Axis-parallel sets, one per row of bounds."""
    count, size = low.shape
    return Sets(np.broadcast_to(np.eye(size), (count, size, size)), low, high)


def widened(rows: Array, low: Array, high: Array, share: float) -> Sets:
    """Sets that are wider by a share, and by a little slack."""
    slack = (share + _SLACK) * (high - low) + 10.0 * _SLACK * np.maximum(np.abs(low), np.abs(high)) + 1e-11
    return Sets(rows, low - slack, high + slack)


def ranges(rows: Array, states: Form) -> tuple[Array, Array]:
    """The bounds of rows · x for enclosed states."""
    middle = np.einsum("srn,ns->sr", rows, states.centre)
    spread = np.abs(np.einsum("srn,nsk->srk", rows, states.slopes)).sum(axis=2)
    spread = spread + np.einsum("srn,ns->sr", np.abs(rows), states.error)
    return middle - spread, middle + spread


def turned_rows(slopes: Array, scales: Array) -> Array:
    """Lohner's rows: orthogonal in scaled states, they follow the longest of the directions [set, state, direction]."""
    columns = slopes / scales[:, None]
    order = np.argsort(-np.linalg.norm(columns, axis=1), axis=1, kind="stable")
    orthogonal, _ = np.linalg.qr(np.take_along_axis(columns, order[:, None, :], axis=2))
    return np.swapaxes(orthogonal, 1, 2) / scales


class Modes(NamedTuple):
    """Rows along which linear dynamics act separately; those of an oscillation are complex, and turn with it."""

    rows: NDArray[np.complex128]
    angles: Array
    """By how much each row turns in a step; zero for rows that stay as they are."""

    def at(self, time: int) -> Array:
        turned = self.rows * np.exp(-1j * self.angles * time)[:, None]
        return np.vstack([turned.real, turned.imag[self.angles > 0.0]])


def modes_across(jump: Array, normal: Array, matrix: Array, scales: Array) -> Modes | None:
    """Rows for states that chatter across a condition: the condition, and the modes of the motion along it.

    The action makes states jump, so all rows but the condition's leave the jump alone. None where the condition
    does not see the jump.
    """
    direction, row, matrix = jump / scales, normal * scales, matrix / scales[:, None] * scales
    length, size = np.linalg.norm(direction), np.linalg.norm(row)
    if not abs(row @ direction) > 1e-4 * length * size:
        return None
    along = np.eye(len(scales)) - np.outer(direction, row) / (row @ direction)
    found: Any = np.linalg.eig((along @ matrix).T)
    values, vectors = found[0].astype(complex), found[1].astype(complex)
    chosen = [index for index in np.argsort(np.abs(values))[1:] if values[index].imag >= 0.0]  # the smallest is zero
    others = vectors.T[chosen] @ along
    rows: Any = np.vstack([row / size, others / np.maximum(np.linalg.norm(others, axis=1, keepdims=True), 1e-300)])
    angles = np.where(values[chosen].imag > 0.0, np.angle(values[chosen]), 0.0)
    modes = Modes(rows / scales, np.append(0.0, angles))
    first = modes.at(0)
    return modes if len(first) == len(scales) and np.linalg.cond(first * scales) < 1e7 else None


def contained(inner: Sets, outer: Sets) -> Flags:
    """Whether each inner set certainly lies in the outer one."""
    middle = (outer.rows @ inner.centre[..., None])[..., 0]
    spread = np.abs(outer.rows @ inner.generators).sum(axis=2)
    slack = _SLACK * (np.abs(middle) + spread)
    return ((middle - spread - slack >= outer.low) & (middle + spread + slack <= outer.high)).all(axis=1)

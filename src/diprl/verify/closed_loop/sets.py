"""Many parallelotopes at once: low <= rows · x <= high, each with its own rows, and how rows are chosen.

The choice matters for tightness only: whatever the rows are, the checker decides whether a set contains an image.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diprl.verify.closed_loop.forms import Form

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_SLACK = 1e-9
"""How much wider than computed a set is made, relative to its size: more than the checker rounds outwards."""
_DIGITS = 7


@dataclass(frozen=True, eq=False)
class Sets:
    """Parallelotopes of the same dimension."""

    rows: Array
    """[set, row, state]"""
    low: Array
    """[set, row]"""
    high: Array

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: "NDArray[np.bool_] | Indices | slice") -> "Sets":
        return Sets(self.rows[index], self.low[index], self.high[index])

    @property
    def centre(self) -> Array:
        middle = ((self.low + self.high) / 2.0)[..., None]
        return np.asarray(np.linalg.solve(self.rows, middle)[..., 0], np.float64)

    @property
    def generators(self) -> Array:
        """[set, state, row]"""
        return np.linalg.inv(self.rows) * ((self.high - self.low) / 2.0)[:, None, :]


def joined(parts: Sequence[Sets]) -> Sets:
    return Sets(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "low", "high")))


def boxes(low: Array, high: Array) -> Sets:
    """Axis-parallel sets, one per row of bounds."""
    count, size = low.shape
    return Sets(np.broadcast_to(np.eye(size), (count, size, size)), low, high)


def widened(rows: Array, low: Array, high: Array, share: float = _SLACK) -> Sets:
    """Sets with a little slack and numbers with few digits, rounded outwards."""
    width = high - low
    slack = share * width + 10.0 * _SLACK * np.maximum(np.abs(low), np.abs(high)) + 1e-11
    low, high = low - slack, high + slack
    with np.errstate(all="ignore"):
        grid = 10.0 ** np.clip(np.ceil(4.0 - np.log10(width)), -12.0, 14.0)
    grid = np.where(np.isfinite(grid), grid, 1e14)
    return Sets(rows, np.floor(low * grid) / grid, np.ceil(high * grid) / grid)


def rounded(rows: Array) -> Array:
    """Rows with few digits."""
    with np.errstate(all="ignore"):
        grid = 10.0 ** np.clip(np.ceil(_DIGITS - np.log10(np.abs(rows).max(axis=-1, keepdims=True))), -12.0, 18.0)
    return np.round(rows * grid) / grid


def stacked(states: Sequence[Form]) -> tuple[Array, Array, Array]:
    """Centres [set, state], slopes [set, state, symbol] and errors [set, state] of a state's forms."""
    return (
        np.stack([form.centre for form in states], axis=1),
        np.stack([form.slopes for form in states], axis=1),
        np.stack([form.error for form in states], axis=1),
    )


def ranges(rows: Array, states: Sequence[Form]) -> tuple[Array, Array]:
    """The bounds of rows · x for enclosed states."""
    centre, slopes, error = stacked(states)
    middle = np.einsum("srn,sn->sr", rows, centre)
    spread = np.abs(np.einsum("srn,snk->srk", rows, slopes)).sum(axis=2) + np.einsum("srn,sn->sr", np.abs(rows), error)
    return middle - spread, middle + spread


def turned_rows(states: Sequence[Form], scales: Array) -> Array:
    """Rows that follow the longest directions of each image, orthogonal in scaled states (Lohner's method)."""
    _, slopes, _ = stacked(states)
    columns = slopes / scales[:, None]
    order = np.argsort(-np.linalg.norm(columns, axis=1), axis=1, kind="stable")
    ordered = np.take_along_axis(columns, order[:, None, :], axis=2)
    orthogonal, _ = np.linalg.qr(ordered)
    return rounded(np.swapaxes(orthogonal, 1, 2) / scales)


@dataclass(frozen=True, eq=False)
class Modes:
    """Rows along which linear dynamics act separately; those of an oscillation turn with it from step to step."""

    fixed: Array
    """[row, state]: rows that stay as they are."""
    real: Array
    imaginary: Array
    angles: Array
    """By how much each pair of rows turns in a step."""

    def at(self, time: int) -> Array:
        cosine, sine = np.cos(self.angles * time)[:, None], np.sin(self.angles * time)[:, None]
        turned = [cosine * self.real + sine * self.imaginary, cosine * self.imaginary - sine * self.real]
        return rounded(np.vstack([self.fixed, *turned]))


def modes_of(matrix: Array, scales: Array) -> Modes:
    """The modes of a linear map of states."""
    values, vectors = np.linalg.eig((matrix / scales[:, None] * scales).T)
    return _modes(values.astype(complex), vectors.T.astype(complex), np.zeros((0, len(scales))), scales)


def _modes(values: NDArray[np.complex128], rows: NDArray[np.complex128], first: Array, scales: Array) -> Modes:
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    alone, pairs = np.abs(values.imag) < 1e-9, values.imag > 1e-9
    fixed = np.vstack([first, rows[alone].real])
    return Modes(fixed / scales, rows[pairs].real / scales, rows[pairs].imag / scales, np.angle(values[pairs]))


def modes_across(jump: Array, normal: Array, slopes: Array, scales: Array) -> Modes | None:
    """Rows for states that chatter across a condition: the condition, and the modes of the motion along it.

    The action makes states jump, so all rows but the condition's leave the jump alone. None where the condition
    does not see the jump.
    """
    direction, row, matrix = jump / scales, normal * scales, slopes / scales[:, None] * scales
    length, size = np.linalg.norm(direction), np.linalg.norm(row)
    if length == 0.0 or size == 0.0 or abs(row @ direction) < 1e-4 * length * size:
        return None
    along = np.eye(len(scales)) - np.outer(direction, row) / (row @ direction)
    values, vectors = np.linalg.eig((along @ matrix).T)
    order = np.argsort(np.abs(values))[1:]  # the smallest is zero: the direction of the jump
    modes = _modes(values[order].astype(complex), (vectors.T[order] @ along).astype(complex), row[None] / size, scales)
    first = modes.at(0)
    return modes if first.shape == slopes.shape and np.linalg.cond(first * scales) < 1e7 else None


def contained(inner: Sets, outer: Sets) -> NDArray[np.bool_]:
    """Whether each inner set certainly lies in the outer one: a single one, or one for each."""
    middle = (outer.rows @ inner.centre[..., None])[..., 0]
    spread = np.abs(outer.rows @ inner.generators).sum(axis=2)
    slack = _SLACK * (np.abs(middle) + spread)
    return ((middle - spread - slack >= outer.low) & (middle + spread + slack <= outer.high)).all(axis=1)

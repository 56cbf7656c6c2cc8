"""The smallest change of a state that makes a program act otherwise.

Each terminal is reached on a polytope, an intersection of half-spaces. The nearest point of one is a
least-distance problem, which Lawson and Hanson reduce to non-negative least squares; that ends after finitely
many exact steps.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from diprl.program.ast import Condition, If, Node, Terminal, conditions, terminals
from diprl.program.text_format import format_terminal

if TYPE_CHECKING:
    from diprl.program.program import Program

Array = NDArray[np.float64]

_NUDGES = (0.0, 1e-12, 1e-9, 1e-6, 1e-3)
"""How far to step past a threshold, relative to the state; the least that the interpreter notices is used."""


@dataclass(frozen=True)
class Flip:
    """A change of the state that leads to another terminal."""

    changes: tuple[tuple[str, float], ...]
    """What to add to which feature."""
    features: tuple[float, ...]
    """The state after the change."""
    distance: float
    """Length of the change in scaled units."""
    action: str
    """The terminal reached then, as printed."""

    def __str__(self) -> str:
        return ", ".join(f"{name} {change:+.4g}" for name, change in self.changes) + f" gives {self.action}"


def nearest_flip(program: "Program", state: Array, scales: Array) -> Flip | None:
    """The nearest state within the features' bounds, in scaled distance, that reaches another terminal."""
    current = _terminal(program, state)
    flips = (
        _flip_into(program, state, scales, path, current)
        for leaf, path in _leaf_paths(program.root)
        if leaf != current
    )
    return min((flip for flip in flips if flip), key=lambda flip: flip.distance, default=None)


def single_feature_flips(program: "Program", state: Array, scales: Array) -> tuple[Flip, ...]:
    """For each feature that can do it alone, the smallest change that reaches a different terminal."""
    current = _terminal(program, state)
    flips = (_flip_along(program, state, scales, feature, current) for feature in range(len(state)))
    return tuple(sorted((flip for flip in flips if flip), key=lambda flip: flip.distance))


def _leaf_paths(root: Node) -> Iterator[tuple[Terminal, list[tuple[Condition, bool]]]]:
    """Every leaf with the conditions on its path and whether each must hold."""
    stack: list[tuple[Node, list[tuple[Condition, bool]]]] = [(root, [])]
    while stack:
        node, path = stack.pop()
        if isinstance(node, If):
            stack.append((node.orelse, [*path, (node.condition, False)]))
            stack.append((node.then, [*path, (node.condition, True)]))
        else:
            yield node, path


def _flip_into(
    program: "Program", state: Array, scales: Array, path: list[tuple[Condition, bool]], current: Terminal
) -> Flip | None:
    """The nearest state of one leaf, stepping as little past its thresholds as the interpreter notices."""
    low, high = _bounds(program, state)
    rows, limits = _half_spaces(path, state, scales)
    size = max(1.0, float(np.abs(state / scales).max(initial=0.0)), float(np.abs(limits).max(initial=0.0)))
    edges = np.concatenate([np.eye(len(state)), -np.eye(len(state))])
    walls = np.concatenate([(low - state) / scales, (state - high) / scales])
    finite = np.isfinite(walls)
    violated = np.where([holds for _, holds in path], limits >= 0.0, limits > 0.0)
    for nudge, (nudged, slack) in product(_NUDGES, ((violated, 0.0), (True, 0.0), (True, 2.0))):
        wanted = np.concatenate([limits + nudge * size * nudged, walls[finite] - slack * nudge * size])
        step = _least_distance(np.concatenate([rows, edges[finite]]), wanted)
        if step is None:
            continue
        moved = np.clip(state + scales * step, low, high)
        if _terminal(program, moved) != current:
            return _flip(program, state, moved, scales)
    return None


def _half_spaces(path: list[tuple[Condition, bool]], state: Array, scales: Array) -> tuple[Array, Array]:
    """The path's conditions as rows · step >= limits, with rows of length one."""
    signs = np.array([1.0 if holds else -1.0 for _, holds in path])
    weights = np.array([condition.weights for condition, _ in path]).reshape(len(path), len(state))
    values = weights @ state + [condition.bias for condition, _ in path]
    rows = signs[:, None] * weights * scales
    norms = np.linalg.norm(rows, axis=1)
    norms[norms == 0.0] = 1.0
    return rows / norms[:, None], -signs * values / norms


def _least_distance(rows: Array, limits: Array) -> Array | None:
    """The shortest vector with rows · vector >= limits, or None where there is none."""
    from scipy.optimize import nnls

    size = float(np.abs(limits).max(initial=0.0)) or 1.0
    target = np.zeros(rows.shape[1] + 1)
    target[-1] = 1.0
    system = np.vstack([rows.T, limits / size])
    try:
        multipliers, _ = nnls(system, target)
    except RuntimeError:
        return None
    remainder = system @ multipliers - target
    if remainder[-1] > -1e-14:
        return None
    return -remainder[:-1] / remainder[-1] * size


def _flip_along(
    program: "Program", state: Array, scales: Array, feature: int, current: Terminal
) -> Flip | None:
    """Try every threshold crossing along one axis, the closest first."""
    rows = conditions(program.root)
    weights = np.array([row.weights for row in rows]).reshape(len(rows), len(state))
    values = weights @ state + [row.bias for row in rows]
    reads = weights[:, feature] != 0.0
    crossings = -values[reads] / weights[reads, feature]
    crossings = crossings[np.isfinite(crossings)]
    sizes = np.maximum(np.maximum(np.abs(crossings), abs(state[feature])), scales[feature] * 1e-3)
    changes = np.concatenate([crossings + sign * nudge * sizes for nudge in _NUDGES for sign in (1.0, -1.0)])
    low, high = _bounds(program, state)
    places = state[feature] + changes[np.argsort(np.abs(changes))]
    places = places[(places >= low[feature]) & (places <= high[feature])]
    moved = np.repeat(state[None], len(places), axis=0)
    moved[:, feature] = places
    leaves = terminals(program.root)
    for row, leaf in zip(moved, program.branch_batch(moved), strict=True):
        if leaves[leaf] != current:
            return _flip(program, state, row, scales)
    return None


def _bounds(program: "Program", state: Array) -> tuple[Array, Array]:
    """The features' bounds, widened where the state already lies outside of them."""
    low = np.array([feature.low for feature in program.signature.features])
    high = np.array([feature.high for feature in program.signature.features])
    return np.minimum(low, state), np.maximum(high, state)


def _terminal(program: "Program", state: Array) -> Terminal:
    return terminals(program.root)[program.branch_batch(state[None])[0]]


def _flip(program: "Program", state: Array, moved: Array, scales: Array) -> Flip:
    changes = (moved - state).tolist()
    named = [
        (name, change)
        for name, change in zip(program.signature.feature_names, changes, strict=True)
        if change
    ]
    action = "; ".join(format_terminal(_terminal(program, moved), program.signature))
    return Flip(tuple(named), tuple(moved.tolist()), float(np.linalg.norm((moved - state) / scales)), action)

"""A program's numbers as one vector in comparable units, and back: what a search over programs moves.

Each condition is written over standardised features and scaled to unit length, since neither units nor the scale of a
condition change what it decides. Outputs of affine terminals are measured in units of their range.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.program.ast import Affine, Blend, Condition, If, Node
from diprl.program.signature import Discrete

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Moments:
    """Mean and deviation of each feature over visited states."""

    mean: Vector
    scale: Vector


def measure_moments(features: NDArray[np.floating]) -> Moments:
    """Moments of visited states; a constant feature keeps its unit."""
    spread = np.maximum(features.std(axis=0), 0.05 * np.ptp(features, axis=0)).astype(np.float64)
    return Moments(features.mean(axis=0, dtype=np.float64), np.where(spread > 1e-9, spread, 1.0))


def to_vector(program: Program, moments: Moments) -> Vector:
    """All numbers of a program, conditions and terminals in printing order."""
    parts: list[Vector] = []
    reach = output_reach(program)
    _visit(program.root, lambda node: parts.append(_numbers(node, moments, reach)))
    return np.concatenate(parts) if parts else np.zeros(0)


def from_vector(program: Program, vector: Vector, moments: Moments) -> Program:
    """The same program with other numbers."""
    root, used = _rebuild(program.root, vector, 0, moments, output_reach(program))
    if used != len(vector):
        raise ValueError(f"the program has {used} numbers, the vector {len(vector)}")
    return Program(program.signature, root, program.task)


def output_reach(program: Program) -> Vector:
    """Half-width of each continuous output's range, 1 where it is unbounded."""
    actions = program.signature.actions
    if isinstance(actions, Discrete):
        return np.zeros(0)
    width = (np.asarray(actions.high) - np.asarray(actions.low)) / 2
    return np.where(np.isfinite(width) & (width > 0), width, 1.0)


def _visit(node: Node, visit) -> None:
    if isinstance(node, If):
        visit(node.condition)
        _visit(node.then, visit)
        _visit(node.orelse, visit)
    else:
        visit(node)


def _numbers(item: Condition | Node, moments: Moments, reach: Vector) -> Vector:
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


def _rebuild(node: Node, vector: Vector, at: int, moments: Moments, reach: Vector) -> tuple[Node, int]:
    features = len(moments.mean)
    if isinstance(node, If):
        row = vector[at : at + features + 1]
        weights = row[:-1] / moments.scale
        condition = Condition(tuple(weights.tolist()), float(row[-1] - weights @ moments.mean))
        then, at = _rebuild(node.then, vector, at + features + 1, moments, reach)
        orelse, at = _rebuild(node.orelse, vector, at, moments, reach)
        return If(condition, then, orelse), at
    if isinstance(node, Affine):
        size = len(reach) * features
        weights = vector[at : at + size].reshape(len(reach), features) * reach[:, None] / moments.scale
        offset = vector[at + size : at + size + len(reach)] * reach - weights @ moments.mean
        return Affine(tuple(map(tuple, weights.tolist())), tuple(offset.tolist())), at + size + len(reach)
    if isinstance(node, Blend):
        logits = vector[at : at + len(node.weights)]
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        return Blend(tuple(shares.tolist())), at + len(node.weights)
    return node, at

"""What a program means: one observation in plain Python floats, and a batch in NumPy with the same bits.

A linear form is the sum of its non-zero products in feature order, then its bias unless that is zero, added
from left to right; a form without terms is 0. A condition holds when its form is strictly greater than zero,
so a form that is not a number makes it false. Sums are never reordered, fused or taken as matrix products.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.program.ast import Act, Affine, Blend, Condition, If, Node, Terminal

Array = NDArray[np.float64]


def linear(weights: Sequence[float], bias: float, values: Sequence[float]) -> float:
    """The value of one linear form."""
    total = None
    for weight, value in zip(weights, values, strict=True):
        if weight != 0.0:
            total = weight * value if total is None else total + weight * value
    if total is None:
        return bias
    return total + bias if bias != 0.0 else total


def holds(condition: Condition, features: Sequence[float]) -> bool:
    return linear(condition.weights, condition.bias, features) > 0.0


def terminal_at(root: Node, features: Sequence[float]) -> Terminal:
    """The leaf that one observation reaches."""
    node = root
    while isinstance(node, If):
        node = node.then if holds(node.condition, features) else node.orelse
    return node


def clip(value: float, low: float, high: float) -> float:
    """Limit a value to [low, high]; what is not a number stays so."""
    return low if value < low else high if value > high else value


def affine(
    leaf: Affine, features: Sequence[float], low: Sequence[float], high: Sequence[float]
) -> list[float]:
    """The outputs of an affine terminal, clipped."""
    rows = zip(leaf.weights, leaf.bias, low, high, strict=True)
    return [clip(linear(weights, bias, features), lower, upper) for weights, bias, lower, upper in rows]


def blend(
    leaf: Blend, actions: Sequence[Sequence[float]], low: Sequence[float], high: Sequence[float]
) -> list[float]:
    """The clipped mix of the primitives' actions, one row per primitive."""
    columns = zip(zip(*actions, strict=True), low, high, strict=True)
    return [clip(linear(leaf.weights, 0.0, column), lower, upper) for column, lower, upper in columns]


def linear_batch(weights: Sequence[float], bias: float, columns: Array) -> Array:
    """The values of one linear form over `columns[feature, observation]`, added up as in `linear`."""
    total: Any = None
    for weight, column in zip(weights, columns, strict=True):
        if weight != 0.0:
            total = weight * column if total is None else total + weight * column
    if total is None:
        return np.full(columns.shape[1], bias)
    return total + bias if bias != 0.0 else total


def leaves_batch(root: Node, columns: Array) -> list[tuple[Terminal, NDArray[np.intp]]]:
    """Every leaf as printed, with the observations of `columns[feature, observation]` that reach it."""
    reached: list[tuple[Terminal, NDArray[np.intp]]] = []
    stack: list[tuple[Node, NDArray[np.intp]]] = [(root, np.arange(columns.shape[1]))]
    with np.errstate(all="ignore"):
        while stack:
            node, rows = stack.pop()
            if not isinstance(node, If):
                reached.append((node, rows))
                continue
            true = linear_batch(node.condition.weights, node.condition.bias, columns[:, rows]) > 0.0
            stack += [(node.orelse, rows[~true]), (node.then, rows[true])]
    return reached


def branch_batch(root: Node, columns: Array) -> NDArray[np.int64]:
    """The index of the leaf that each observation reaches, in the order in which leaves are printed."""
    branch = np.empty(columns.shape[1], np.int64)
    for number, (_, rows) in enumerate(leaves_batch(root, columns)):
        branch[rows] = number
    return branch


def discrete_batch(root: Node, columns: Array) -> NDArray[np.int64]:
    """The action index for each observation of a program over discrete actions."""
    chosen = np.empty(columns.shape[1], np.int64)
    for leaf, rows in leaves_batch(root, columns):
        if isinstance(leaf, Act):
            chosen[rows] = leaf.action
    return chosen


def vector_batch(
    root: Node, columns: Array, primitives: Array | None, low: Sequence[float], high: Sequence[float]
) -> Array:
    """The clipped action vectors; `primitives[observation, primitive, actuator]` where the program blends."""
    action = np.empty((columns.shape[1], len(low)))
    with np.errstate(all="ignore"):
        for leaf, rows in leaves_batch(root, columns):
            for entry in range(len(low)):
                if isinstance(leaf, Affine):
                    action[rows, entry] = linear_batch(
                        leaf.weights[entry], leaf.bias[entry], columns[:, rows]
                    )
                elif isinstance(leaf, Blend) and primitives is not None:
                    action[rows, entry] = linear_batch(leaf.weights, 0.0, primitives[rows, :, entry].T)
        lower, upper = np.asarray(low), np.asarray(high)
        return np.where(action < lower, lower, np.where(action > upper, upper, action))

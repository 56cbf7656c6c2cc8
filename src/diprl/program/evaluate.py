"""What a program means: one observation in plain Python floats, and a batch in NumPy with the same bits.

A linear form is the sum of its non-zero products in feature order, then its bias unless that is zero, added
from left to right; a form without terms is 0. A condition holds when its form is strictly greater than zero,
so a form that is not a number makes it false. Sums are never reordered, fused or taken as matrix products.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.program.ast import Act, Affine, Blend, Condition, If, Node, Terminal, terminals
from diprl.program.signature import Actions, Continuous, Discrete, Primitives

Array = NDArray[np.float64]


def linear(weights: Sequence[float], bias: float, values: Sequence[Any]) -> Any:
    """The value of one linear form; entries of `values` may be numbers or arrays."""
    total = None
    for weight, value in zip(weights, values, strict=True):
        if weight != 0.0:
            total = weight * value if total is None else total + weight * value
    if total is None:
        return bias
    return total + bias if bias != 0.0 else total


def terminal_at(root: Node, features: Sequence[float]) -> Terminal:
    """The leaf that one observation reaches."""
    return path_at(root, features)[1]


def path_at(root: Node, features: Sequence[float]) -> tuple[list[Condition], Terminal]:
    """The conditions that one observation is asked for, and the leaf that it reaches."""
    asked: list[Condition] = []
    node = root
    while isinstance(node, If):
        condition = node.condition
        asked.append(condition)
        node = node.then if linear(condition.weights, condition.bias, features) > 0.0 else node.orelse
    return asked, node


def clip(value: float, low: float, high: float) -> float:
    """Limit a value to [low, high]; what is not a number stays so."""
    return low if value < low else high if value > high else value


def entry_forms(
    leaf: Affine | Blend, features: Sequence[Any], primitives: Sequence[Sequence[Any]] = ()
) -> list[tuple[Sequence[float], float, Sequence[Any]]]:
    """What each entry of an action is: weights, bias and what they weigh, as arguments of `linear`.

    That may be values or the names of values, for features and for each entry of each primitive's action.
    """
    if isinstance(leaf, Affine):
        return [(row, bias, features) for row, bias in zip(leaf.weights, leaf.bias, strict=True)]
    return [(leaf.weights, 0.0, column) for column in zip(*primitives, strict=True)]


def vector(
    leaf: Affine | Blend, features: Sequence[float], actions: Continuous | Primitives, primitives: Sequence[Any] = ()
) -> list[float]:
    """The clipped action of one terminal; blends need the primitives' actions, one row per primitive."""
    rows = zip(entry_forms(leaf, features, primitives), actions.low, actions.high, strict=True)
    return [clip(linear(*form), low, high) for form, low, high in rows]


def linear_batch(weights: Sequence[float], bias: float, columns: Array) -> Array:
    """The values of one linear form over `columns[feature, observation]`, added up as in `linear`."""
    return linear(weights, bias, columns) if any(weights) else np.full(columns.shape[1], bias)  # type: ignore[arg-type]


def walk_batch(root: Node, columns: Array) -> Iterator[tuple[Node, NDArray[np.intp], Array]]:
    """Every node as printed, with the observations that reach it and, where it is an `if`, its values there."""
    stack: list[tuple[Node, NDArray[np.intp]]] = [(root, np.arange(columns.shape[1]))]
    while stack:
        node, rows = stack.pop()
        values = np.empty(0)
        if isinstance(node, If):
            with np.errstate(all="ignore"):
                values = linear_batch(node.condition.weights, node.condition.bias, columns[:, rows])
            stack += [(node.orelse, rows[~(values > 0.0)]), (node.then, rows[values > 0.0])]
        yield node, rows, values


def asked_batch(root: Node, columns: Array) -> Iterator[tuple[Condition, NDArray[np.intp], Array]]:
    """Every condition as printed, with the observations that are asked for it and its values there."""
    found = walk_batch(root, columns)
    return ((node.condition, rows, values) for node, rows, values in found if isinstance(node, If))


def leaves_batch(root: Node, columns: Array) -> Iterator[tuple[Terminal, NDArray[np.intp]]]:
    """Every leaf as printed, with the observations of `columns[feature, observation]` that reach it."""
    return ((node, rows) for node, rows, _ in walk_batch(root, columns) if not isinstance(node, If))


def branch_batch(root: Node, columns: Array) -> NDArray[np.int64]:
    """The index of the leaf that each observation reaches, in the order in which leaves are printed."""
    branch = np.empty(columns.shape[1], np.int64)
    for number, (_, rows) in enumerate(leaves_batch(root, columns)):
        branch[rows] = number
    return branch


def act_batch(root: Node, actions: Actions, columns: Array, primitives: Array | None) -> NDArray[Any]:
    """An index or a clipped vector per observation; `primitives[observation, primitive, actuator]` are blended."""
    if isinstance(actions, Discrete):
        indices = [leaf.action for leaf in terminals(root) if isinstance(leaf, Act)]
        return np.array(indices, np.int64)[branch_batch(root, columns)]
    action = np.empty((columns.shape[1], len(actions.low)))
    with np.errstate(all="ignore"):
        for leaf, rows in leaves_batch(root, columns):
            assert not isinstance(leaf, Act)  # held by the program's constructor
            mixed: Any = () if primitives is None else primitives[rows].transpose(1, 2, 0)
            for entry, form in enumerate(entry_forms(leaf, columns[:, rows], mixed)):  # type: ignore[arg-type]
                action[rows, entry] = linear(*form)
        lower, upper = np.asarray(actions.low), np.asarray(actions.high)
        return np.where(action < lower, lower, np.where(action > upper, upper, action))

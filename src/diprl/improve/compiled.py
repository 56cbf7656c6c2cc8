"""Programs as arrays: one shape of program compiled once, evaluated for many sets of numbers at a time on a twin."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from diprl.program import Program
from diprl.program.ast import If, Node
from diprl.tasks.base import Twin
from diprl.train.simulate import episodes_played


class Shape(NamedTuple):
    """Which leaf each combination of conditions leads to."""

    paths: np.ndarray
    """(leaves, conditions): +1 where the path to a leaf needs the condition, −1 where it needs its opposite."""
    lengths: np.ndarray
    """Conditions on the path to each leaf."""


def shape_of(program: Program) -> Shape:
    """The shape of a program; conditions and leaves in printing order."""
    rows: list[dict[int, int]] = []
    count = 0

    def visit(node: Node, path: dict[int, int]) -> None:
        nonlocal count
        if not isinstance(node, If):
            rows.append(path)
            return
        index, count = count, count + 1
        visit(node.then, path | {index: 1})
        visit(node.orelse, path | {index: -1})

    visit(program.root, {})
    paths = np.zeros((len(rows), count), np.float32)
    for leaf, path in enumerate(rows):
        for condition, sign in path.items():
            paths[leaf, condition] = sign
    return Shape(paths, np.abs(paths).sum(axis=1))


def act(
    shape: Shape,
    weights: Float[Array, "conditions width"],
    actions: Int[Array, " leaves"],
    view: Float[Array, " features"],
) -> Int[Array, ""]:
    """The action of the program whose conditions have these weights (bias last) and whose leaves these actions."""
    holds = jnp.where(weights[:, :-1] @ view + weights[:, -1] > 0, 1.0, -1.0)
    reached = shape.paths @ holds == shape.lengths
    return jnp.sum(jnp.where(reached, actions, 0)).astype(jnp.int32)


def candidate_returns(
    twin: Twin,
    shape: Shape,
    weights: Float[Array, "candidates conditions width"],
    actions: Int[Array, "candidates leaves"],
    episodes: int,
    *,
    key: PRNGKeyArray,
) -> tuple[Float[Array, "candidates episodes"], Array]:
    """Returns of every candidate on the same starts, so that their differences are not luck, and the steps taken."""

    def returns(weights: Array, actions: Array) -> tuple[Array, Array]:
        return episodes_played(twin, lambda view, _: act(shape, weights, actions, view), 1, episodes, key=key)

    values, lengths = jax.vmap(returns)(weights, actions)
    return values, lengths.sum()

"""Programs as arrays, so that one compilation plays any program up to a size, thousands of episodes at a time."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from diprl.arena.twin import Lanes, play_until
from diprl.program import Program, ast
from diprl.program.paths import leaf_paths
from diprl.tasks.base import Twin


class Packed(NamedTuple):
    """A program with discrete actions; conditions and leaves in printing order, padded to a common size."""

    weights: np.ndarray
    """(conditions, features + 1), the bias last."""
    paths: np.ndarray
    """(leaves, conditions): +1 where the path to a leaf needs the condition, −1 where it needs its opposite."""
    lengths: np.ndarray
    """Conditions on the path to each leaf; more than there are for padding, which is never reached."""
    actions: np.ndarray


def pack(program: Program, conditions: int) -> Packed:
    """The program as arrays for up to so many conditions, which is one less than the leaves."""
    width = len(program.signature.features) + 1
    packed = Packed(
        weights=np.zeros((conditions, width)),
        paths=np.zeros((conditions + 1, conditions), np.float32),
        lengths=np.full(conditions + 1, conditions + 1.0, np.float32),
        actions=np.zeros(conditions + 1, np.int32),
    )
    for index, held in enumerate(ast.conditions(program.root)):
        packed.weights[index] = (*held.weights, held.bias)
    for leaf, (terminal, path) in enumerate(leaf_paths(program.root)):
        if not isinstance(terminal, ast.Act):
            raise TypeError("only programs with discrete actions run on a twin")
        for decision in path:
            packed.paths[leaf, decision.number] = 1 if decision.holds else -1
        packed.lengths[leaf], packed.actions[leaf] = len(path), terminal.action
    return packed._replace(weights=packed.weights.astype(np.float32))


def act(packed: Packed, view: Float[Array, " features"]) -> Array:
    """The action of a packed program."""
    holds = jnp.where(packed.weights[:, :-1] @ view + packed.weights[:, -1] > 0, 1.0, -1.0)
    reached = packed.paths @ holds == packed.lengths
    return jnp.sum(jnp.where(reached, packed.actions, 0)).astype(jnp.int32)


def play_lanes(twin: Twin, packed: Packed, lanes: Lanes, few: Array | int) -> Lanes:
    """Play episodes, each lane with a program of its own, until no more than a few are alive."""

    def act_all(states: Array, _: Array) -> Array:
        return jax.vmap(act)(packed, jax.vmap(twin.observe)(states))

    return play_until(twin, act_all, lanes, few)

"""Programs as arrays: one of them for compiled code, or several that act at once, each on observations of its own."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diprl.program.ast import Act, Terminal, conditions, number_rows
from diprl.program.paths import leaf_paths
from diprl.program.program import Program
from diprl.program.signature import Discrete

Array = NDArray[np.float64]


class Packed(NamedTuple):
    """A program, or several with one more axis; conditions and leaves in printing order, padded to a common size."""

    weights: Any
    """(conditions, features + 1), the bias last."""
    paths: Any
    """(leaves, conditions): +1 where the path to a leaf needs the condition, −1 where it needs its opposite."""
    lengths: Any
    """Conditions on the path to each leaf; more than there are for padding, which is never reached."""
    leaves: Any
    """(leaves,) actions, or the numbers of each leaf: (leaves, outputs, features + 1) or (leaves, 1, primitives)."""


def pack(program: Program, most: int) -> Packed:
    """The program as arrays for up to so many conditions, which is one less than the leaves."""
    found = list(leaf_paths(program.root))
    first = leaf_numbers(found[0][0])
    packed = Packed(
        weights=np.zeros((most, len(program.signature.features) + 1)),
        paths=np.zeros((most + 1, most), np.float32),
        lengths=np.full(most + 1, most + 1.0, np.float32),
        leaves=np.zeros((most + 1, *first.shape), first.dtype),
    )
    for index, held in enumerate(conditions(program.root)):
        packed.weights[index] = (*held.weights, held.bias)
    for leaf, (terminal, path) in enumerate(found):
        for decision in path:
            packed.paths[leaf, decision.number] = 1 if decision.holds else -1
        packed.lengths[leaf], packed.leaves[leaf] = len(path), leaf_numbers(terminal)
    return packed


def packed_together(programs: Sequence[Program], most: int) -> Packed:
    """Several programs of one signature, with one more axis in front."""
    return Packed(*map(np.stack, zip(*(pack(program, most) for program in programs), strict=True)))


def leaf_numbers(leaf: Terminal) -> NDArray[Any]:
    return np.array(leaf.action, np.int32) if isinstance(leaf, Act) else np.array(number_rows(leaf), np.float64)


class Together:
    """Several programs of one signature; the same decisions as `Program.act_batch`, for all of them in one go."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self.actions = programs[0].signature.actions
        packed = packed_together(programs, max(program.conditions for program in programs))
        self.read = np.flatnonzero(packed.weights.any(axis=(0, 1)))
        self.packed = packed._replace(weights=packed.weights[..., self.read])

    def act(self, owner: NDArray[np.int64], features: Array, primitives: Array | None = None) -> NDArray[Any]:
        """The action in each row of features, by the program whose number stands in the same row of `owner`."""
        rows = Packed(*(part[owner] for part in self.packed))
        inputs = np.column_stack([features, np.ones(len(features))])
        with np.errstate(all="ignore"):
            holds = np.where(summed(rows.weights, inputs[:, None, self.read]) > 0.0, np.float32(1), np.float32(-1))
            reached = (rows.paths * holds[:, None, :]).sum(axis=2) == rows.lengths
            chosen = rows.leaves[np.arange(len(owner)), reached.argmax(axis=1)]
            if isinstance(self.actions, Discrete):
                return chosen
            action = summed(chosen, inputs[:, None, :] if primitives is None else primitives.transpose(0, 2, 1))
            lower, upper = np.asarray(self.actions.low), np.asarray(self.actions.high)
            return np.where(action < lower, lower, np.where(action > upper, upper, action))


def summed(numbers: Array, inputs: Array) -> Array:
    """Products added up along the last axis from left to right, as the interpreter does."""
    total = np.zeros(np.broadcast_shapes(numbers.shape[:-1], inputs.shape[:-1]))
    for index in range(numbers.shape[-1]):
        total += numbers[..., index] * inputs[..., index]
    return total

"""The ant looks the same after a quarter turn, so one walking direction gives the other three exactly.

Turning an ant's state by 90° rotates its position, velocities and orientation about z and hands each leg's
joints to the next leg. Hips all turn about z; ankles bend about axes whose sense differs from leg to leg.
On the vectors that a primitive reads and writes, the turn is a permutation with signs.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diprl.tasks.mujoco.description import Array
from diprl.tasks.mujoco.primitives import Primitive

LEGS = 4
ANKLE_SENSE = np.array([1.0, -1.0, -1.0, 1.0])
JOINT_ORDER = (0, 1, 2, 3)
ACTUATOR_ORDER = (3, 0, 1, 2)
"""Which leg each pair (hip, ankle) belongs to, in qpos and among the motors."""


@dataclass(frozen=True)
class SignedPermutation:
    """Maps v to signs · v[source]."""

    source: NDArray[np.int64]
    signs: Array

    def __call__(self, vectors: Array) -> Array:
        return self.signs * vectors[..., self.source]


def quarter_turn_of_state() -> SignedPermutation:
    """A quarter turn to the left of (qpos, qvel), as observed with x and y."""
    plane = _turned_plane()
    upright = _unchanged(1)
    legs = _next_leg(JOINT_ORDER)
    positions = _joined(plane, upright, upright, plane, upright, legs)
    velocities = _joined(plane, upright, plane, upright, legs)
    return _joined(positions, velocities)


def quarter_turn_of_senses() -> SignedPermutation:
    """The same turn of what a primitive observes: the state without x and y."""
    whole = quarter_turn_of_state()
    return SignedPermutation(whole.source[2:] - 2, whole.signs[2:])


def quarter_turn_of_actions() -> SignedPermutation:
    return _next_leg(ACTUATOR_ORDER)


def turned(primitive: Primitive, quarter_turns: int) -> Primitive:
    """The primitive that does the same after that many quarter turns to the left."""
    for _ in range(quarter_turns):
        primitive = _turned_once(primitive)
    return primitive


def _turned_once(primitive: Primitive) -> Primitive:
    """Fold the turn into the network: permute the rows of its input and the columns of its output."""
    senses, actions = quarter_turn_of_senses(), quarter_turn_of_actions()
    layers = list(primitive.layers)
    weights, bias = layers[0]
    layers[0] = (senses.signs[:, None] * weights[senses.source], bias)
    weights, bias = layers[-1]
    layers[-1] = (actions(weights), actions(bias))
    return replace(
        primitive,
        mean=senses(primitive.mean),
        std=primitive.std[senses.source],
        layers=tuple(layers),
        low=primitive.low[actions.source],
        high=primitive.high[actions.source],
    )


def _turned_plane() -> SignedPermutation:
    """(x, y) becomes (−y, x)."""
    return SignedPermutation(np.array([1, 0]), np.array([-1.0, 1.0]))


def _unchanged(size: int) -> SignedPermutation:
    return SignedPermutation(np.arange(size), np.ones(size))


def _next_leg(order: tuple[int, ...]) -> SignedPermutation:
    """(hip, ankle) pairs listed in that order of legs: each leg takes over what the leg before it did."""
    source, signs = np.empty(2 * LEGS, np.int64), np.ones(2 * LEGS)
    for place, leg in enumerate(order):
        previous = (leg - 1) % LEGS
        origin = order.index(previous)
        source[2 * place : 2 * place + 2] = (2 * origin, 2 * origin + 1)
        signs[2 * place + 1] = ANKLE_SENSE[leg] * ANKLE_SENSE[previous]
    return SignedPermutation(source, signs)


def _joined(*parts: SignedPermutation) -> SignedPermutation:
    """Parts that act on consecutive pieces of one vector."""
    offsets = np.cumsum([0] + [len(part.source) for part in parts[:-1]])
    source = np.concatenate([part.source + offset for part, offset in zip(parts, offsets, strict=True)])
    return SignedPermutation(source, np.concatenate([part.signs for part in parts]))

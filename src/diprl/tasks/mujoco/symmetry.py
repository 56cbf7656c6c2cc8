"""The ant looks the same after a quarter turn, so one walking direction gives the other three exactly.

Turning an ant's state by 90° rotates its position, velocities and orientation about z and hands each leg's
joints to the next leg. On the vectors that a primitive reads and writes, that is a permutation with signs.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diprl.program.networks import Array, Network

Turn = NDArray[np.int64]
PLANE, UPRIGHT = (-2, 1), (1,)
JOINTS = (7, 8, 1, -2, 3, 4, 5, -6)
MOTORS = (7, -8, 1, 2, 3, -4, 5, 6)
"""Where each number of a turned group comes from, counted from 1, with its sign: (x, y) becomes (−y, x).

Legs are pairs (hip, ankle) in the order of qpos and of the motors, which begin with the last leg. Hips all turn about
z; ankles bend about axes whose sense differs from leg to leg.
"""


def _turn(*groups: tuple[int, ...]) -> Turn:
    """Groups that are turned each by itself, one after the other in a vector."""
    starts = np.cumsum([0, *map(len, groups[:-1])])
    shifted = [np.sign(group) * (np.abs(group) + start) for group, start in zip(groups, starts, strict=True)]
    return np.concatenate(shifted)


POSITIONS = (PLANE, UPRIGHT, UPRIGHT, PLANE, UPRIGHT, JOINTS)
VELOCITIES = (PLANE, UPRIGHT, PLANE, UPRIGHT, JOINTS)
TURN_OF_STATE = _turn(*POSITIONS, *VELOCITIES)
"""A quarter turn to the left of (qpos, qvel), as observed with x and y."""
TURN_OF_SENSES = _turn(*POSITIONS[1:], *VELOCITIES)
"""The same turn of what a primitive observes: the state without x and y."""
TURN_OF_ACTIONS = _turn(MOTORS)


def turn(origins: Turn, vectors: Array) -> Array:
    return np.sign(origins) * vectors[..., np.abs(origins) - 1]


def turned(network: Network, quarter_turns: int) -> Network:
    """The network that does the same after that many quarter turns to the left."""
    for _ in range(quarter_turns):
        network = _turned_once(network)
    return network


def _turned_once(network: Network) -> Network:
    """Fold the turn into the network: permute the rows of its input and the columns of its output."""
    layers, motors = list(network.layers), np.abs(TURN_OF_ACTIONS) - 1
    weights, bias = layers[0]
    layers[0] = (turn(TURN_OF_SENSES, weights.T).T, bias)
    weights, bias = layers[-1]
    layers[-1] = (turn(TURN_OF_ACTIONS, weights), turn(TURN_OF_ACTIONS, bias))
    mean, std = turn(TURN_OF_SENSES, network.mean), np.abs(turn(TURN_OF_SENSES, network.std))
    low, high = network.low[motors], network.high[motors]
    return replace(network, mean=mean, std=std, layers=tuple(layers), low=low, high=high)

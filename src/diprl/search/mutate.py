"""Other programs of the same size: what numbers alone cannot reach, a new branch may.

Only if/elif/else chains with discrete actions mutate: a branch that hardly acts gives way to a random one, whose
condition passes through a visited state, or one leaf takes another action.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diprl.search.numbers import Point


def mutants(
    point: Point,
    states: NDArray[np.float64],
    shares: NDArray[np.float64],
    choices: int,
    count: int,
    seed: int,
) -> list[Point]:
    """`count` variations of a chain over standardised states; `shares` says how often each leaf acts."""
    generator = np.random.default_rng(seed)
    leaves = len(point.actions)
    changed = []
    for _ in range(count):
        if leaves > 1 and generator.random() < 0.7:
            changed.append(new_branch(point, states, shares, choices, generator))
        else:
            actions = point.actions.copy()
            actions[generator.integers(leaves)] = generator.integers(choices)
            changed.append(replace(point, actions=actions))
    return changed


def random_chains(point: Point, states: NDArray[np.float64], choices: int, count: int, seed: int) -> list[Point]:
    """Random chains of the same size, to begin again somewhere else."""
    generator = np.random.default_rng(seed)
    conditions = len(point.actions) - 1
    return [
        Point(
            np.concatenate([random_condition(states, generator) for _ in range(conditions)]),
            generator.integers(choices, size=conditions + 1),
        )
        for _ in range(count)
    ]


def random_condition(states: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    """A half-space of random direction whose border passes through a visited state."""
    direction = generator.standard_normal(states.shape[1])
    row = np.append(direction, -direction @ states[generator.integers(len(states))])
    return row / np.linalg.norm(row)


def new_branch(
    point: Point,
    states: NDArray[np.float64],
    shares: NDArray[np.float64],
    choices: int,
    generator: np.random.Generator,
) -> Point:
    """Drop a branch, the less it acts the likelier, and put a random one anywhere in the chain."""
    width = states.shape[1] + 1
    rows = list(point.numbers.reshape(-1, width))
    actions = point.actions.tolist()
    odds = np.exp(-30.0 * shares[:-1])
    dropped = int(generator.choice(len(rows), p=odds / odds.sum()))
    del rows[dropped], actions[dropped]
    place = int(generator.integers(len(rows) + 1))
    rows.insert(place, random_condition(states, generator))
    actions.insert(place, int(generator.integers(choices)))
    return Point(np.concatenate(rows), np.array(actions, np.int64))

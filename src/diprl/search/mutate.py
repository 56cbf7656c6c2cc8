"""Other programs of the same size: what numbers alone cannot reach, a new branch may.

Only if/elif/else chains with discrete actions mutate: a branch that hardly acts gives way to a random one, whose
condition passes through a visited state, or one leaf takes another action.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diprl.search.numbers import Point, Vector


class Variations:
    """Variations of a chain over standardised states; the same seed gives the same ones."""

    def __init__(self, states: NDArray[np.float64], choices: int, seed: int) -> None:
        """`choices` is how many actions there are."""
        self.states, self.choices, self.generator = states, choices, np.random.default_rng(seed)

    def mutants(self, point: Point, count: int) -> list[Point]:
        shares = leaf_shares(point, self.states)
        return [self.mutant(point, shares) for _ in range(count)]

    def random_chains(self, point: Point, count: int) -> list[Point]:
        """Random chains of the same size, to begin again somewhere else."""
        return [self.random_chain(len(point.actions) - 1) for _ in range(count)]

    def mutant(self, point: Point, shares: Vector) -> Point:
        """The chain with a new branch, or with another action; `shares` says how often each leaf acts."""
        leaves = len(point.actions)
        if leaves > 1 and self.generator.random() < 0.7:
            return self.new_branch(point, shares)
        actions = point.actions.copy()
        actions[self.generator.integers(leaves)] = self.generator.integers(self.choices)
        return replace(point, actions=actions)

    def new_branch(self, point: Point, shares: Vector) -> Point:
        """Drop a branch, the less it acts the likelier, and put a random one anywhere in the chain."""
        rows = list(point.numbers.reshape(-1, self.states.shape[1] + 1))
        actions = point.actions.tolist()
        odds = np.exp(-30.0 * shares[:-1])
        dropped = int(self.generator.choice(len(rows), p=odds / odds.sum()))
        del rows[dropped], actions[dropped]
        place = int(self.generator.integers(len(rows) + 1))
        rows.insert(place, self.random_condition())
        actions.insert(place, int(self.generator.integers(self.choices)))
        return Point(np.concatenate(rows), np.array(actions, np.int64))

    def random_chain(self, conditions: int) -> Point:
        numbers = np.concatenate([self.random_condition() for _ in range(conditions)])
        return Point(numbers, self.generator.integers(self.choices, size=conditions + 1))

    def random_condition(self) -> Vector:
        """A half-space of random direction whose border passes through a visited state."""
        direction = self.generator.standard_normal(self.states.shape[1])
        row = np.append(direction, -direction @ self.states[self.generator.integers(len(self.states))])
        return row / np.linalg.norm(row)


def leaf_shares(point: Point, states: NDArray[np.float64]) -> Vector:
    """How often each leaf of a chain acts on these states."""
    rows = point.numbers.reshape(-1, states.shape[1] + 1)
    holds = states @ rows[:, :-1].T + rows[:, -1] > 0
    reached = np.where(holds.any(axis=1), holds.argmax(axis=1), len(rows))
    return np.bincount(reached, minlength=len(rows) + 1) / len(states)

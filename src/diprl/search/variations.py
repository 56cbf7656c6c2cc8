"""Other programs of the same size: what numbers alone cannot reach, a new branch may.

Only if/elif/else chains with discrete actions vary: a branch that hardly acts gives way to a random one, whose
condition passes through a visited state, or one leaf takes another action.
"""

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.program.ast import Act, Condition, assemble, conditions, is_chain, terminals
from diprl.program.signature import Discrete

NEW_BRANCH = 0.7
"""Probability of a new branch; otherwise a leaf takes another action."""
IDLENESS = 30.0
"""How much likelier a branch that never acts is to go than one that always does, as a logarithm."""


def can_vary(program: Program) -> bool:
    """Whether branches may be exchanged."""
    discrete = isinstance(program.signature.actions, Discrete)
    return discrete and program.conditions > 0 and is_chain(program.root)


def variations(program: Program, views: NDArray[np.float32], count: int, seed: int) -> list[Program]:
    """So many variations of a chain; the same seed gives the same ones."""
    generator = np.random.default_rng(seed)
    leaves = len(terminals(program.root))
    shares = np.bincount(program.branch_batch(views), minlength=leaves) / len(views)
    return [variation(program, views, shares, generator) for _ in range(count)]


def variation(
    program: Program, views: NDArray[np.float32], shares: NDArray[np.floating], generator: np.random.Generator
) -> Program:
    held, leaves = conditions(program.root), terminals(program.root)
    action = Act(int(generator.integers(len(program.signature.actions.names))))
    if generator.random() >= NEW_BRANCH:
        leaves[generator.integers(len(leaves))] = action
    else:
        odds = np.exp(-IDLENESS * shares[:-1])
        dropped = int(generator.choice(len(held), p=odds / odds.sum()))
        new = random_condition(held[dropped], views, generator)
        del held[dropped], leaves[dropped]
        place = int(generator.integers(len(held) + 1))
        held.insert(place, new)
        leaves.insert(place, action)
    branches = (item for branch in zip(held, leaves, strict=False) for item in branch)
    return program.with_root(assemble([*branches, leaves[-1]]))


def random_condition(old: Condition, views: NDArray[np.float32], generator: np.random.Generator) -> Condition:
    """A condition over as many features as an old one reads, whose border passes through a visited state."""
    spread = np.where(views.std(axis=0) > 1e-9, views.std(axis=0), 1.0).astype(np.float64)
    read = generator.permutation(len(spread))[: max(1, np.count_nonzero(old.weights))]
    weights = np.zeros(len(spread))
    weights[read] = generator.standard_normal(len(read)) / spread[read]
    border = views[generator.integers(len(views))].astype(np.float64)
    return Condition(tuple(weights.tolist()), float(-weights @ border))

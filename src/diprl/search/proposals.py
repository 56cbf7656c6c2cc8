"""Smaller or simpler programs to try in place of one: each proposal is pure and says what it does."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.program.ast import Affine, Condition, Item, assemble, conditions, flatten, merge_branches
from diprl.program.edit import prune_branch, round_item
from diprl.program.paths import Decisions, condition_paths, leaf_paths
from diprl.program.signature import Signature

MARGIN = 1e-9
"""Slack, in units of a condition of length one, below which a region counts as empty."""


@dataclass(frozen=True)
class Proposal:
    """A program, how it came about, and its score once it is accepted."""

    program: Program
    what: str
    score: float = float("nan")


def without_dead_branches(program: Program) -> Program:
    """The program without the branches that no state within the feature bounds can reach."""
    while path := next((path for _, path in leaf_paths(program.root) if not reachable(path, program.signature)), None):
        program = program.with_root(prune_branch(program.root, [decision.branch for decision in path]))
    return merged(program)


def reachable(path: Decisions, signature: Signature) -> bool:
    """Whether some state within the bounds takes this path: the largest slack of its conditions is positive."""
    from scipy.optimize import linprog

    if not path:
        return True
    rows, limits = [], []
    for _, condition, holds in path:
        weights = np.asarray(condition.weights)
        length = max(float(np.linalg.norm(weights)), 1e-300)
        sign = -1.0 if holds else 1.0
        rows.append([*(sign * weights / length), 1.0 if holds else 0.0])
        limits.append(-sign * condition.bias / length)
    bounds = [(feature.low, feature.high) for feature in signature.features]
    slack = [0.0] * len(bounds) + [-1.0]
    result = linprog(slack, A_ub=rows, b_ub=limits, bounds=[*bounds, (None, 1.0)])
    return result.status not in (0, 2) or (result.status == 0 and -result.fun > MARGIN)


def without_branch(program: Program) -> list[Proposal]:
    """Every program with one condition less: an `if` gives way to one of its branches."""
    found = []
    for path in condition_paths(program.root):
        steps = [decision.branch for decision in path]
        for dropped in ("then", "else"):
            shorter = program.with_root(prune_branch(program.root, [*steps, dropped]))
            where = ".".join(steps) or "the root"
            found.append(Proposal(merged(shorter), f"drop the {dropped} branch at {where}"))
    return found


def merged(program: Program) -> Program:
    """The same program with conditions that decide nothing removed: both of their branches are equal."""
    return program.with_root(merge_branches(program.root))


def without_coefficient(program: Program, scales: NDArray[np.float64]) -> list[Proposal]:
    """Every program with one number less in a condition, the least influential first."""
    found: list[tuple[float, Proposal]] = []
    names = (*program.signature.feature_names, "constant")
    for index, condition in enumerate(conditions(program.root)):
        row = np.array([*condition.weights, condition.bias])
        influence = np.abs(row) * np.append(scales, 1.0)
        for entry in np.flatnonzero(row):
            if np.count_nonzero(row[:-1]) == 1 and entry < len(row) - 1:
                continue
            smaller = row.copy()
            smaller[entry] = 0.0
            changed = with_condition(program, index, Condition(tuple(smaller[:-1].tolist()), float(smaller[-1])))
            share = float(influence[entry] / influence.max())
            found.append((share, Proposal(changed, f"drop {names[entry]} from condition {index + 1}")))
    return [proposal for _, proposal in sorted(found, key=lambda item: item[0])]


def without_weights(program: Program, views: NDArray[np.float32], count: int) -> Program:
    """The program less its conditions' least influential weights on these views; each keeps its greatest.

    A feature that is no longer read leaves its mean effect behind in the constant.
    """
    held = conditions(program.root)
    weights = np.array([condition.weights for condition in held])
    influence = np.abs(weights) * views.std(axis=0, dtype=np.float64)
    greatest = influence.max(axis=1, keepdims=True)
    droppable = np.flatnonzero((weights != 0.0) & (influence < greatest))
    shares = (influence / np.maximum(greatest, 1e-12)).ravel()[droppable]
    kept = weights.copy()
    kept.flat[droppable[np.argsort(shares)][:count]] = 0.0
    left_behind = (weights - kept) @ views.mean(axis=0, dtype=np.float64)
    constants = [condition.bias for condition in held] + left_behind
    smaller = map(Condition, map(tuple, kept.tolist()), constants.tolist())
    return changed(program, Condition, lambda _: next(smaller))


def changed(program: Program, kind: type[Item], change: Callable[[Any], Item]) -> Program:
    """The program with every condition or terminal of a kind changed, in printing order."""
    items = flatten(program.root)
    return program.with_root(assemble(change(item) if isinstance(item, kind) else item for item in items))


def with_condition(program: Program, index: int, condition: Item) -> Program:
    """The program with another condition in the place of the index-th in printing order."""
    items = list(flatten(program.root))
    places = [place for place, item in enumerate(items) if isinstance(item, Condition)]
    items[places[index]] = condition
    return program.with_root(assemble(items))


def rounded(condition: Condition, digits: int) -> Item:
    """A condition divided by its smallest weight, so that a coefficient reads as 1, to so many significant digits."""
    smallest = min((abs(weight) for weight in condition.weights if weight), default=1.0)
    weights = tuple(weight / smallest for weight in condition.weights)
    return round_item(Condition(weights, condition.bias / smallest), digits)


def rounded_conditions(program: Program, digits: int) -> Program:
    return changed(program, Condition, lambda condition: rounded(condition, digits))


def rounded_terminals(program: Program, digits: int) -> Program:
    """Affine terminals to so many significant digits."""
    return changed(program, Affine, lambda terminal: round_item(terminal, digits))


def has_digits(condition: Condition, digits: int) -> bool:
    """Whether no number of the condition has more significant digits."""
    return round_item(condition, digits) == condition

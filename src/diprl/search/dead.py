"""Branches that no state within the feature bounds can reach, found by linear programming."""

import numpy as np

from diprl.program import Program
from diprl.program.edit import prune_branch
from diprl.program.paths import Decisions, leaf_paths
from diprl.program.signature import Signature
from diprl.search.proposals import merged

MARGIN = 1e-9
"""Slack, in units of a condition of length one, below which a region counts as empty."""


def without_dead_branches(program: Program) -> Program:
    """The program without the branches that can never act."""
    pruned = True
    while pruned:
        pruned = False
        for _, path in leaf_paths(program.root):
            if not reachable(path, program.signature):
                steps = [decision.branch for decision in path]
                program, pruned = program.with_root(prune_branch(program.root, steps)), True
                break
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
    size = len(signature.features)
    result = linprog(
        c=[0.0] * size + [-1.0],
        A_ub=rows,
        b_ub=limits,
        bounds=[*feature_bounds(signature), (None, 1.0)],
    )
    return result.status not in (0, 2) or (result.status == 0 and -result.fun > MARGIN)


def feature_bounds(signature: Signature) -> list[tuple[float | None, float | None]]:
    return [
        (f.low if np.isfinite(f.low) else None, f.high if np.isfinite(f.high) else None) for f in signature.features
    ]

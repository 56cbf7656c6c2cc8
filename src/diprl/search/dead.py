"""Branches that no state within the feature bounds can reach, found by linear programming."""

import numpy as np

from diprl.program import Program
from diprl.program.ast import Condition, If
from diprl.program.edit import node_at, replace_node
from diprl.program.signature import Signature
from diprl.search.proposals import Steps, leaf_paths, merged, with_root

MARGIN = 1e-9
"""Slack, in units of a condition of length one, below which a region counts as empty."""


def without_dead_branches(program: Program) -> Program:
    """The program without the branches that can never act."""
    pruned = True
    while pruned:
        pruned = False
        for path in leaf_paths(program.root):
            if path and not reachable(program, path):
                parent = node_at(program.root, path[:-1])
                assert isinstance(parent, If)  # a leaf below the root hangs on an if
                kept = parent.orelse if path[-1] == "then" else parent.then
                program, pruned = with_root(program, replace_node(program.root, path[:-1], kept)), True
                break
    return merged(program)


def reachable(program: Program, path: Steps) -> bool:
    """Whether some state within the bounds takes this path: the largest slack of its conditions is positive."""
    from scipy.optimize import linprog

    needed = required(program, path)
    if not needed:
        return True
    rows, limits = [], []
    for condition, holds in needed:
        weights = np.asarray(condition.weights)
        length = max(float(np.linalg.norm(weights)), 1e-300)
        sign = -1.0 if holds else 1.0
        rows.append([*(sign * weights / length), 1.0 if holds else 0.0])
        limits.append(-sign * condition.bias / length)
    size = len(program.signature.features)
    result = linprog(
        c=[0.0] * size + [-1.0],
        A_ub=rows,
        b_ub=limits,
        bounds=[*feature_bounds(program.signature), (None, 1.0)],
    )
    return result.status not in (0, 2) or (result.status == 0 and -result.fun > MARGIN)


def feature_bounds(signature: Signature) -> list[tuple[float | None, float | None]]:
    return [
        (f.low if np.isfinite(f.low) else None, f.high if np.isfinite(f.high) else None)
        for f in signature.features
    ]


def required(program: Program, path: Steps) -> list[tuple[Condition, bool]]:
    """The conditions on a path and whether each must hold."""
    found = []
    for depth, step in enumerate(path):
        node = node_at(program.root, path[:depth])
        assert isinstance(node, If)  # a path leads through ifs
        found.append((node.condition, step == "then"))
    return found

"""What a program does where it goes: the states it visits, which branches act there, which features matter."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diprl.arena.reference import visited_views
from diprl.errors import DiprlError, check_known
from diprl.program import Program
from diprl.program.ast import terminals
from diprl.tasks.base import Task


@dataclass(frozen=True)
class Visits:
    """States of some episodes, and which branch the program took there."""

    features: NDArray[np.float64]
    """(states, features)"""
    branches: NDArray[np.int64]

    def medians(self) -> list[float]:
        return np.median(self.features, axis=0).tolist()


def visit(task: Task, program: Program, episodes: int) -> Visits:
    """Play some episodes that no score is taken from."""
    views = visited_views(task, program, episodes)
    features = views[:, : len(program.signature.features)].astype(np.float64)
    return Visits(features, program.branch_batch(features))


def influence(program: Program, visits: Visits, seed: int = 0) -> list[float]:
    """For each feature, the share of visited states where another state's value of it changes the action."""
    generator = np.random.default_rng(seed)
    numbers: dict[object, int] = {}
    actions = np.array([numbers.setdefault(leaf, len(numbers)) for leaf in terminals(program.root)])
    changed = []
    for feature in range(visits.features.shape[1]):
        shuffled = visits.features.copy()
        shuffled[:, feature] = generator.permutation(shuffled[:, feature])
        different = actions[program.branch_batch(shuffled)] != actions[visits.branches]
        changed.append(float(np.mean(different)))
    return changed


def choose_features(program: Program, names: str | None, importance: list[float]) -> list[int]:
    """The one or two features to draw over: those that are named, else those that matter most."""
    known = program.signature.feature_names
    if names is None:
        return sorted(range(len(known)), key=lambda index: -importance[index])[:2]
    wanted = [name.strip() for name in names.split(",")]
    check_known("feature", known, *wanted)
    if not 1 <= len(set(wanted)) == len(wanted) <= 2:
        raise DiprlError(f"--features takes one or two different features, not {names!r}")
    return [known.index(name) for name in wanted]

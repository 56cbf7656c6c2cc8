"""Why a program acts as it does on one observation, and the smallest changes that would make it act otherwise.

Each terminal is reached on a polytope, an intersection of half-spaces. The nearest point of one is a
least-distance problem, which Lawson and Hanson reduce to non-negative least squares; that ends after finitely
many exact steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import hypot, inf
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diprl.errors import ProgramError
from diprl.program.ast import Condition, Terminal, conditions, terminals
from diprl.program.evaluate import linear, path_at, terminal_at
from diprl.program.paths import Decisions, leaf_paths
from diprl.program.text_format import format_condition, format_terminal

if TYPE_CHECKING:
    from diprl.program.program import Program

Array = NDArray[np.float64]

_NUDGES = (0.0, 1e-12, 1e-9, 1e-6, 1e-3)
"""How far to step past a threshold, relative to the state; the least that the interpreter notices is used."""


@dataclass(frozen=True)
class Counterfactual:
    """A change of the state that leads to another terminal."""

    changes: tuple[tuple[str, float], ...]
    """What to add to which feature."""
    features: tuple[float, ...]
    """The state after the change."""
    distance: float
    """Length of the change in scaled units."""
    action: str
    """The terminal reached then, as printed."""

    def __str__(self) -> str:
        return ", ".join(f"{name} {change:+.4g}" for name, change in self.changes) + f" gives {self.action}"


@dataclass(frozen=True)
class Step:
    """One condition that was looked at on the way to the action."""

    condition: str
    """As printed."""
    value: float
    """What is compared with zero."""
    margin: float
    """Distance of the observation from the threshold, in scaled units."""
    holds: bool
    contributions: tuple[tuple[str, float], ...]
    """The products that add up to the value, by feature name, and the bias under 'bias'."""


@dataclass(frozen=True)
class Explanation:
    """The way of one observation through a program."""

    action: str
    """The terminal reached, as printed."""
    leaf: int
    """Its number in the order in which terminals are printed."""
    steps: tuple[Step, ...]
    nearest: Counterfactual | None
    """The smallest change of the whole state that leads to another terminal; None where there is none."""
    single: tuple[Counterfactual, ...]
    """The smallest change of each single feature that does so, the smallest first."""

    def __str__(self) -> str:
        lines = [f"the program does: {self.action}", ""]
        for number, step in enumerate(self.steps, 1):
            terms = sorted((term for term in step.contributions if term[1]), key=lambda term: -abs(term[1]))
            verdict = "holds" if step.holds else "does not hold"
            lines += [
                f"{number}. {step.condition}",
                f"   {verdict}: the value is {step.value:+.4g}, {step.margin:.4g} from the threshold",
                "   " + ",  ".join(f"{name} {value:+.4g}" for name, value in terms),
            ]
        if not self.steps:
            lines.append("It has no conditions: it does so in every state.")
        elif self.nearest is None:
            lines += ["", "No state within the features' bounds gives another action."]
        else:
            lines += ["", f"smallest change   {self.nearest} (distance {self.nearest.distance:.4g})"]
        titles = ["one feature only", *[""] * len(self.single)]
        return "\n".join([*lines, *(f"{title:18}{change}" for title, change in zip(titles, self.single, strict=False))])


def explain(program: "Program", features: ArrayLike, scales: Sequence[float] | None = None) -> Explanation:
    """Follow one observation; `scales` says how much of each feature is one unit of change (default 1)."""
    values = np.asarray(features, np.float64)
    units = np.ones(len(values)) if scales is None else np.asarray(scales, np.float64)
    if units.shape != values.shape or not np.all((units > 0) & np.isfinite(units)):
        raise ProgramError(f"scales must be {len(values)} positive numbers, one per feature")
    leaf = int(program.branch_batch(values[None])[0])
    asked, terminal = path_at(program.root, values.tolist())
    origin, finite, distance = _Origin(program, values, units), np.isfinite(values).all(), attrgetter("distance")
    others = [path for leaf, path in leaf_paths(program.root) if leaf != origin.terminal] if finite else []
    alone = range(len(values)) if finite else ()
    return Explanation(
        "; ".join(format_terminal(terminal, program.signature)),
        leaf,
        tuple(_step(program, condition, values.tolist(), units) for condition in asked),
        min(filter(None, (origin.nearest_on(path) for path in others)), key=distance, default=None),
        tuple(sorted(filter(None, (origin.nearest_along(feature) for feature in alone)), key=distance)),
    )


def _step(program: "Program", condition: Condition, values: list[float], scales: Array) -> Step:
    terms = zip(program.signature.feature_names, condition.weights, values, strict=True)
    contributions = [(name, weight * value) for name, weight, value in terms if weight != 0.0]
    if condition.bias != 0.0:
        contributions.append(("bias", condition.bias))
    value = linear(condition.weights, condition.bias, values)
    norm = hypot(*(np.asarray(condition.weights) * scales))
    margin = abs(value) / norm if norm else inf
    return Step(format_condition(condition, program.signature), value, margin, value > 0.0, tuple(contributions))


@dataclass(frozen=True)
class _Origin:
    """The state from which changes are looked for."""

    program: "Program"
    state: Array
    scales: Array

    @cached_property
    def terminal(self) -> Terminal:
        return terminal_at(self.program.root, self.state.tolist())

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """The features' bounds, widened where the state already lies outside of them."""
        low, high = np.array([(feature.low, feature.high) for feature in self.program.signature.features]).T
        return np.minimum(low, self.state), np.maximum(high, self.state)

    def values(self, asked: list[Condition]) -> tuple[Array, Array]:
        """The weights of some conditions, one row each, and their values here."""
        weights = np.array([condition.weights for condition in asked]).reshape(len(asked), len(self.state))
        return weights, weights @ self.state + [condition.bias for condition in asked]

    def moved_to(self, state: Array) -> Counterfactual | None:
        """The change to another state, unless that reaches the same terminal."""
        signature, values = self.program.signature, state.tolist()
        reached = terminal_at(self.program.root, values)
        if reached == self.terminal:
            return None
        step = state - self.state
        changes = zip(signature.feature_names, step.tolist(), strict=True)
        moved, distance = [pair for pair in changes if pair[1]], float(np.linalg.norm(step / self.scales))
        return Counterfactual(tuple(moved), tuple(values), distance, "; ".join(format_terminal(reached, signature)))

    def nearest_on(self, path: Decisions) -> Counterfactual | None:
        """The nearest state of one leaf, stepping as little past its thresholds as the interpreter notices."""
        (low, high), state, scales = self.bounds, self.state, self.scales
        rows, limits = self._half_spaces(path)
        size = max(1.0, float(np.abs(state / scales).max(initial=0.0)), float(np.abs(limits).max(initial=0.0)))
        edges = np.concatenate([np.eye(len(state)), -np.eye(len(state))])
        walls = np.concatenate([(low - state) / scales, (state - high) / scales])
        finite = np.isfinite(walls)
        reads = rows.any(axis=1)  # what reads no feature cannot be stepped past
        violated = reads & np.where([decision.holds for decision in path], limits >= 0.0, limits > 0.0)
        for nudge, (nudged, slack) in product(_NUDGES, ((violated, 0.0), (reads, 0.0), (reads, 2.0))):
            wanted = np.concatenate([limits + nudge * size * nudged, walls[finite] - slack * nudge * size])
            step = _least_distance(np.concatenate([rows, edges[finite]]), wanted)
            found = None if step is None else self.moved_to(np.clip(state + scales * step, low, high))
            if found:
                return found
        return None

    def _half_spaces(self, path: Decisions) -> tuple[Array, Array]:
        """The path's conditions as rows · step >= limits, with rows of length one."""
        signs = np.array([1.0 if decision.holds else -1.0 for decision in path])
        weights, values = self.values([decision.condition for decision in path])
        rows = signs[:, None] * weights * self.scales
        norms = np.linalg.norm(rows, axis=1)
        norms[norms == 0.0] = 1.0
        return rows / norms[:, None], -signs * values / norms

    def nearest_along(self, feature: int) -> Counterfactual | None:
        """Try every threshold crossing along one axis, the closest first."""
        program, here = self.program, self.state[feature]
        weights, values = self.values(conditions(program.root))
        reads = weights[:, feature] != 0.0
        crossings = -values[reads] / weights[reads, feature]
        crossings = crossings[np.isfinite(crossings)]
        sizes = np.maximum(np.maximum(np.abs(crossings), abs(here)), self.scales[feature] * 1e-3)
        changes = np.concatenate([crossings + sign * nudge * sizes for nudge in _NUDGES for sign in (1.0, -1.0)])
        low, high = self.bounds
        places = here + changes[np.argsort(np.abs(changes))]
        places = places[(places >= low[feature]) & (places <= high[feature])]
        moved = np.repeat(self.state[None], len(places), axis=0)
        moved[:, feature] = places
        leaves = terminals(program.root)
        for row, leaf in zip(moved, program.branch_batch(moved), strict=True):
            if leaves[leaf] != self.terminal:
                return self.moved_to(row)
        return None


def _least_distance(rows: Array, limits: Array) -> Array | None:
    """The shortest vector with rows · vector >= limits, or None where there is none."""
    from scipy.optimize import nnls

    size = float(np.abs(limits).max(initial=0.0)) or 1.0
    target = np.zeros(rows.shape[1] + 1)
    target[-1] = 1.0
    system = np.vstack([rows.T, limits / size])
    try:
        multipliers, _ = nnls(system, target)
    except RuntimeError:
        return None
    remainder = system @ multipliers - target
    if remainder[-1] > -1e-14:
        return None
    return -remainder[:-1] / remainder[-1] * size

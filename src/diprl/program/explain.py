"""Why a program acts as it does on one observation, and what would have to change for it to act otherwise."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diprl.errors import ProgramError
from diprl.program import evaluate
from diprl.program.ast import Condition
from diprl.program.counterfactual import Counterfactual, Origin, nearest_counterfactual, single_feature_counterfactuals
from diprl.program.text_format import format_condition, format_terminal

if TYPE_CHECKING:
    from diprl.program.program import Program


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
        lines = [f"{self.action}, because"]
        for step in self.steps:
            verdict = "holds" if step.holds else "does not hold"
            terms = ", ".join(f"{name} {value:+.4g}" for name, value in step.contributions)
            lines.append(f"    {step.condition}   {verdict}: {step.value:.4g} ({terms})")
        lines += [f"nearest change: {self.nearest}"] if self.nearest else []
        return "\n".join([*lines, *(f"one feature: {change}" for change in self.single)])


def explain(program: "Program", features: ArrayLike, scales: Sequence[float] | None = None) -> Explanation:
    """Follow one observation; `scales` says how much of each feature is one unit of change (default 1)."""
    values = np.asarray(features, np.float64)
    units = np.ones(len(values)) if scales is None else np.asarray(scales, np.float64)
    if units.shape != values.shape or not np.all((units > 0) & np.isfinite(units)):
        raise ProgramError(f"scales must be {len(values)} positive numbers, one per feature")
    leaf = int(program.branch_batch(values[None])[0])
    asked, terminal = evaluate.path_at(program.root, values.tolist())
    origin, finite = Origin(program, values, units), bool(np.isfinite(values).all())
    return Explanation(
        "; ".join(format_terminal(terminal, program.signature)),
        leaf,
        tuple(_step(program, condition, values.tolist(), units) for condition in asked),
        nearest_counterfactual(origin) if finite else None,
        single_feature_counterfactuals(origin) if finite else (),
    )


def _step(program: "Program", condition: Condition, values: list[float], scales: NDArray[np.float64]) -> Step:
    terms = zip(program.signature.feature_names, condition.weights, values, strict=True)
    contributions = [(name, weight * value) for name, weight, value in terms if weight != 0.0]
    if condition.bias != 0.0:
        contributions.append(("bias", condition.bias))
    value = evaluate.linear(condition.weights, condition.bias, values)
    norm = hypot(*(np.asarray(condition.weights) * scales))
    return Step(
        format_condition(condition, program.signature),
        value,
        abs(value) / norm if norm else inf,
        value > 0.0,
        tuple(contributions),
    )

"""Curves of several seeds as one band."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diprl.methods.pi_prl import SEARCH
from diprl.runs.result import Result

Floats = NDArray[np.float64]


class Curve(NamedTuple):
    """Values by environment step."""

    steps: Floats
    values: Floats


class Band(NamedTuple):
    """Mean and range of several curves at common steps."""

    steps: Floats
    mean: Floats
    low: Floats
    high: Floats


def curve_of(result: Result, metric: str | None) -> Curve:
    """A metric of a run over its training; None stands for its return.

    While pi-PRL searches, its policy is the relaxed one; everything else is judged by what it acts with in the end.
    VIPER's curve would be that of its oracle, so it has none.
    """
    method, steps = result.spec.method, np.array(result.curve["steps"], np.float64)

    def column(name: str) -> Floats:
        return np.array(result.curve.get(name, [None] * len(steps)), np.float64)

    values = column(metric or "eval/program")
    if metric is None and method == "pi-prl":
        values = np.where(steps <= search_end(result), column("eval/relaxed"), values)
    shown = np.isfinite(values) & (method != "viper")
    return Curve(steps[shown], values[shown])


def search_end(result: Result) -> float:
    """The step at which the program was extracted."""
    return result.steps.get(SEARCH, result.total_steps)


def band(curves: Sequence[Curve]) -> Band | None:
    """The curves at the steps of the longest; one that ends before, its task solved, stays at its last value.

    None where no curve has points.
    """
    curves = [curve for curve in curves if len(curve.steps)]
    if not curves:
        return None
    first = max(curve.steps[0] for curve in curves)
    longest = max(curves, key=lambda curve: curve.steps[-1]).steps
    steps = longest[longest >= first]
    values = np.stack([np.interp(steps, curve.steps, curve.values) for curve in curves])
    return Band(steps, values.mean(axis=0), values.min(axis=0), values.max(axis=0))

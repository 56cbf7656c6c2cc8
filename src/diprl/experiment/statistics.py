"""What a few seeds say: the paper's mean and deviation, and estimates that state their uncertainty.

Interquartile mean, stratified bootstrap, probability of improvement and performance profiles follow R. Agarwal et al.,
"Deep Reinforcement Learning at the Edge of the Statistical Precipice" (2021). Scores are given per task, one array of
runs for each, since tasks are the strata: resampling never moves a run from one task to another.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import trim_mean

Scores = Sequence[ArrayLike]
"""One array of runs per task."""
Floats = NDArray[np.float64]

RESAMPLES = 2000
"""How often as many runs as a task has are drawn from them, with replacement."""
CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A value, or an array of them, and the interval that resampling puts around it."""

    value: Any
    low: Any
    high: Any


def mean_and_deviation(values: ArrayLike) -> tuple[float, float]:
    """Mean and population standard deviation, as the paper prints them.

    >>> mean_and_deviation([4, 5, 5])
    (4.666666666666667, 0.4714045207910317)
    """
    values = np.asarray(values, np.float64)
    return float(values.mean()), float(values.std())


def interquartile_mean(scores: Scores) -> Any:
    """The mean of the middle half of all runs of all tasks; a quarter, rounded down, is cut at each end.

    >>> float(interquartile_mean([[0, 1, 2, 3], [4, 5, 6, 100]]))
    3.5
    """
    return trim_mean(np.concatenate(scores, axis=-1), 0.25, axis=-1)


def probability_of_improvement(one: Scores, other: Scores) -> Floats:
    """How likely a run of the first beats a run of the second on the same task; a tie counts half.

    >>> float(probability_of_improvement([[1, 2], [5]], [[1, 0], [5]]))
    0.6875
    """
    return np.mean([_wins(np.asarray(x), np.asarray(y)) for x, y in zip(one, other, strict=True)], axis=0)


def _wins(one: Floats, other: Floats) -> Floats:
    """The share of pairs that the first wins, along the last axes."""
    difference = one[..., :, None] - other[..., None, :]
    return ((difference > 0) + 0.5 * (difference == 0)).mean(axis=(-2, -1))


def performance_profile(thresholds: Floats) -> Callable[[Scores], Floats]:
    """A statistic: the share of runs, tasks weighted alike, that score more than each threshold."""
    return lambda scores: np.mean([(np.asarray(task)[..., None] > thresholds).mean(axis=-2) for task in scores], axis=0)


def bootstrap(statistic: Callable[..., Any], *samples: Scores, seed: int = 0) -> Estimate:
    """A statistic of the scores, computed along the last axis, with its stratified bootstrap interval."""
    generator = np.random.default_rng(seed)
    known = [[np.asarray(task, np.float64) for task in scores] for scores in samples]
    if any(runs.ndim != 1 or not runs.size for scores in known for runs in scores):
        raise ValueError("expected the scores of one or more runs for each task")
    draws = [[generator.choice(task, (RESAMPLES, len(task))) for task in scores] for scores in known]
    low, high = np.quantile(statistic(*draws), ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2), axis=0)
    return Estimate(statistic(*known), low, high)

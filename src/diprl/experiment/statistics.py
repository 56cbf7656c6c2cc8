"""What a few seeds say: the paper's mean and deviation, and estimates that state their uncertainty.

Interquartile mean, stratified bootstrap, probability of improvement and performance profiles follow R. Agarwal et al.,
"Deep Reinforcement Learning at the Edge of the Statistical Precipice" (2021). Scores are given per task, one array of
runs for each, since tasks are the strata: resampling never moves a run from one task to another.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Scores = Sequence[ArrayLike]
"""One array of runs per task."""
Floats = NDArray[np.float64]

RESAMPLES = 2000
CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A value and the interval that resampling puts around it."""

    value: float
    low: float
    high: float


def mean_and_deviation(values: ArrayLike) -> tuple[float, float]:
    """Mean and population standard deviation, as the paper prints them.

    >>> mean_and_deviation([4, 5, 5])
    (4.666666666666667, 0.4714045207910317)
    """
    values = np.asarray(values, np.float64)
    return float(values.mean()), float(values.std())


def interquartile_mean(scores: Scores) -> float:
    """The mean of the middle half of all runs of all tasks.

    >>> interquartile_mean([[0, 1, 2, 3], [4, 5, 6, 100]])
    3.5
    """
    return float(_middle_means(np.concatenate([_runs(task) for task in scores])))


def _middle_means(values: Floats) -> Floats:
    """Interquartile means along the last axis; a quarter of the entries, rounded down, is cut at each end."""
    ordered, cut = np.sort(values, axis=-1), values.shape[-1] // 4
    return ordered[..., cut : values.shape[-1] - cut].mean(axis=-1)


def interquartile_estimate(scores: Scores, seed: int = 0) -> Estimate:
    """The interquartile mean with its stratified bootstrap interval."""
    resampled = np.concatenate(_resampled(scores, np.random.default_rng(seed)), axis=-1)
    return Estimate(interquartile_mean(scores), *_interval(_middle_means(resampled)))


def probability_of_improvement(one: Scores, other: Scores) -> float:
    """How likely a run of the first beats a run of the second on the same task; a tie counts half.

    >>> probability_of_improvement([[1, 2], [5]], [[1, 0], [5]])
    0.6875
    """
    return float(np.mean([_wins(_runs(x), _runs(y)) for x, y in zip(one, other, strict=True)]))


def improvement_estimate(one: Scores, other: Scores, seed: int = 0) -> Estimate:
    """The probability of improvement with its stratified bootstrap interval."""
    generator = np.random.default_rng(seed)
    pairs = zip(_resampled(one, generator), _resampled(other, generator), strict=True)
    resampled = np.mean([_wins(x, y) for x, y in pairs], axis=0)
    return Estimate(probability_of_improvement(one, other), *_interval(resampled))


def _wins(one: Floats, other: Floats) -> Floats:
    """The share of pairs that the first wins, along the last axes."""
    difference = one[..., :, None] - other[..., None, :]
    return ((difference > 0) + 0.5 * (difference == 0)).mean(axis=(-2, -1))


class Profile(NamedTuple):
    """The share of runs above each threshold, with its interval."""

    thresholds: Floats
    share: Floats
    low: Floats
    high: Floats


def performance_profile(scores: Scores, thresholds: ArrayLike, seed: int = 0) -> Profile:
    """The share of runs, tasks weighted alike, that score more than each threshold."""
    thresholds = np.asarray(thresholds, np.float64)

    def share(tasks: Sequence[Floats]) -> Floats:
        return np.mean([(task[..., None] > thresholds).mean(axis=-2) for task in tasks], axis=0)

    resampled = share(_resampled(scores, np.random.default_rng(seed)))
    low, high = np.quantile(resampled, _ends(), axis=0)
    return Profile(thresholds, share([_runs(task) for task in scores]), low, high)


def bootstrap(values: ArrayLike, statistic: Callable[[Floats], Floats], seed: int = 0) -> Estimate:
    """A statistic of one sample, computed along the last axis, with its bootstrap interval."""
    (resampled,) = _resampled([values], np.random.default_rng(seed))
    return Estimate(float(statistic(_runs(values))), *_interval(statistic(resampled)))


def normalised(values: ArrayLike, low: float, high: float) -> Floats:
    """Scores on a scale on which `low` is 0 and `high` is 1."""
    return (np.asarray(values, np.float64) - low) / (high - low)


def _runs(task: ArrayLike) -> Floats:
    runs = np.asarray(task, np.float64)
    if runs.ndim != 1 or not runs.size:
        raise ValueError(f"expected the scores of one or more runs, got an array of shape {runs.shape}")
    return runs


def _resampled(scores: Scores, generator: np.random.Generator) -> list[Floats]:
    """For each task, RESAMPLES draws of as many runs as it has, with replacement."""
    tasks = [_runs(task) for task in scores]
    return [task[generator.integers(0, len(task), (RESAMPLES, len(task)))] for task in tasks]


def _interval(resampled: Floats) -> tuple[float, float]:
    low, high = np.quantile(resampled, _ends())
    return float(low), float(high)


def _ends() -> tuple[float, float]:
    return (1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2

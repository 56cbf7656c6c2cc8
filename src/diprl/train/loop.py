"""The host loop around the compiled iteration: the one place where training advances, reports and stops."""

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from diprl.errors import NotFiniteError
from diprl.train.collectors import Collector
from diprl.train.engine import Metrics, TrainState


class Progress(NamedTuple):
    """Where a training stands; of a batch of runs, every figure is an array with one entry per run."""

    state: TrainState
    metrics: dict[str, Any]
    """Means over the rollouts since the last report."""
    rollout: int
    fraction: float
    seconds: float
    """Wall time since this process began."""


Report = Callable[[Progress], bool | None]
"""Called now and then; returning True stops the training."""


def train(collector: Collector, state: TrainState, report: Report, reports: int, until: float = 1.0) -> TrainState:
    """Advance through all rollouts, or a fraction of them, reporting `reports` times on the way and once at the end."""
    every, last = max(1, round(collector.rollouts / reports)), math.ceil(until * collector.rollouts)
    began, pending = time.monotonic(), []
    for rollout in range(rollouts_done(state) + 1, last + 1):
        state, metrics = collector.advance(state)
        pending.append(metrics)
        if rollout % every and rollout != last:
            continue
        fraction, seconds = rollout / collector.rollouts, time.monotonic() - began
        progress = Progress(state, mean_metrics(pending), rollout, fraction, seconds)
        pending = []
        check_finite(progress)
        if report(progress):
            break
    return state


def one_more(collector: Collector, state: TrainState) -> Metrics:
    """The metrics of a rollout after the last; the state itself stays as it is."""
    return collector.advance(jax.tree.map(jnp.copy, state))[1]


def rollouts_done(state: TrainState) -> int:
    return int(np.ravel(state.rollout)[0])


def mean_metrics(pending: list[Metrics]) -> dict[str, Any]:
    """Means over rollouts; a rollout without a finished episode says nothing about returns."""
    columns = jax.device_get(pending)
    return {name: finite_mean(np.array([row[name] for row in columns])) for name in columns[0]}


def finite_mean(values: np.ndarray) -> Any:
    """The mean along the first axis of what is finite; not a number where nothing is."""
    if values.ndim == 1:
        return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")
    counted = np.isfinite(values)
    total = np.where(counted, values, 0.0).sum(axis=0)
    return np.where(counted.any(axis=0), total / np.maximum(counted.sum(axis=0), 1), np.nan)


def check_finite(progress: Progress) -> None:
    """Stop a training whose numbers are no longer finite; the last checkpoint is from before."""
    for name in ("train/value_loss", "train/approx_kl"):
        if not np.isfinite(progress.metrics[name]).all():
            value = progress.metrics[name]
            raise NotFiniteError(f"{name} became {value} by rollout {progress.rollout}: training stopped")
    if not np.isfinite(np.asarray(progress.state.vector)).all():
        raise NotFiniteError(f"a parameter is not finite at rollout {progress.rollout}: training stopped")

"""The host loop around the compiled iteration: progress, logs, checkpoints and early stops happen here."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np

from diprl.errors import NotFiniteError
from diprl.train.collector import Collector
from diprl.train.config import Config
from diprl.train.engine import Metrics, TrainState


@dataclass(frozen=True)
class Progress:
    """Where a run stands."""

    state: TrainState
    metrics: dict[str, float]
    """Means over the rollouts since the last report."""
    rollout: int
    steps: int
    fraction: float
    seconds: float
    """Wall time since this process began the run."""


Report = Callable[[Progress], bool | None]
"""Called now and then; returning True stops the run."""


def train(
    collector: Collector, state: TrainState, config: Config, report: Report, reports: int = 50
) -> TrainState:
    """Advance to the end of the budget, reporting about `reports` times on the way and once at the end."""
    every = max(1, round(config.num_rollouts / reports))
    began, pending = time.monotonic(), []
    for rollout in range(int(state.rollout) + 1, config.num_rollouts + 1):
        state, metrics = collector.advance(state)
        pending.append(metrics)
        if rollout % every and rollout != config.num_rollouts:
            continue
        progress = Progress(
            state=state,
            metrics=mean_metrics(pending),
            rollout=rollout,
            steps=rollout * config.rollout_size,
            fraction=rollout / config.num_rollouts,
            seconds=time.monotonic() - began,
        )
        pending = []
        check_finite(progress)
        if report(progress):
            break
    return state


def mean_metrics(pending: list[Metrics]) -> dict[str, float]:
    """Means over rollouts; a rollout without a finished episode says nothing about returns."""
    columns = jax.device_get(pending)
    with np.errstate(invalid="ignore"):
        stacked = {name: np.array([row[name] for row in columns]) for name in columns[0]}
    return {
        name: float(np.nanmean(v)) if np.isfinite(v).any() else float("nan") for name, v in stacked.items()
    }


def check_finite(progress: Progress) -> None:
    """Stop a run whose numbers have left the finite world; the last checkpoint is from before."""
    for name in ("train/value_loss", "train/approx_kl"):
        if not np.isfinite(progress.metrics[name]):
            raise NotFiniteError(
                f"{name} became {progress.metrics[name]} by step {progress.steps}: training stopped"
            )
    if not np.isfinite(np.asarray(progress.state.vector)).all():
        raise NotFiniteError(f"a parameter is not finite at step {progress.steps}: training stopped")

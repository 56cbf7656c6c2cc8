"""All seeds and all traced settings of a task in one compiled call; needs JAX and a twin, and nothing else.

Scores come from the twin and say so; `rescore` measures the stored programs on the reference environment later,
wherever that is installed.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from diprl.errors import DiprlError, NotFiniteError
from diprl.experiment.execute import TWIN, header, scored
from diprl.experiment.grid import Run
from diprl.experiment.records import CURVE_POINTS, STEPS, Record, thinned_curve
from diprl.extract import STAGES, gap
from diprl.methods.agents import tree_agent
from diprl.methods.base import VALIDATION_EPISODES
from diprl.methods.diprl import GAP_EPISODES, read_off
from diprl.policy.base import HARD, SOFT, Hardness, Temperatures
from diprl.policy.derivation_tree import DerivationTree
from diprl.system.storage import is_stored as has_checkpoint
from diprl.tasks.base import Task
from diprl.tasks.twins.table import TWIN_TASKS
from diprl.train import schedule
from diprl.train.checkpoint import load_checkpoint, save_checkpoint
from diprl.train.collector import device_name
from diprl.train.compiling import compiled
from diprl.train.config import Hyper
from diprl.train.engine import Engine, TrainState
from diprl.train.evaluate import EVALUATION_SEED
from diprl.train.score import score_of
from diprl.train.validate import VALIDATION_SEED, Validator

CHECKPOINT = "checkpoint"
FIGURES = ("rollout/ep_rew_mean", "train/architecture_entropy", "train/alpha", "eval/relaxed", "eval/program")
"""What is kept of every run at each report, beside the steps."""


class Progress(NamedTuple):
    """Every run of a batch at one moment, runs first."""

    state: TrainState
    curve: Float[np.ndarray, "reports figures runs"]


class Batch:
    """Runs of one task that differ in seed and traced settings only."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs, self.config = tuple(runs), runs[0].config
        self.task: Task = TWIN_TASKS[runs[0].task]
        self.make_agent = lambda key: tree_agent(self.task, self.config, key=key)
        shared = self.config.static().with_values(alpha_dual=max(run.config.alpha_dual for run in runs))
        self.engine = Engine(self.task, shared, self.make_agent(jr.key(0)))
        hypers = [run.config.hyper() for run in runs]
        self.hyper = Hyper(*(np.stack(values) for values in zip(*hypers, strict=True)))
        self.num_rollouts = self.config.num_rollouts
        self.every = max(1, round(self.num_rollouts / CURVE_POINTS))
        self.iteration = compiled(jax.vmap(self.engine.iteration, in_axes=(0, 0, None)), donate_argnums=0)
        self.validate = jax.jit(self.all_returns, static_argnums=3)
        self.returns_on_twin = Validator(self.engine).returns_on_twin

    def begin(self) -> Progress:
        """The first state of every run, from the same random numbers that a run of its own would use."""

        def one(key: PRNGKeyArray) -> TrainState:
            agent_key, run_key = jr.split(key)
            return self.engine.begin(self.make_agent(agent_key), key=run_key)

        keys = jax.vmap(jr.key)(jnp.array([run.seed for run in self.runs]))
        reports = -(-self.num_rollouts // self.every)
        curve = np.full((reports, len(FIGURES), len(self.runs)), np.nan, np.float32)
        return Progress(jax.jit(jax.vmap(one))(keys), curve)

    def temperatures(self, fraction: float) -> Temperatures:
        return jax.vmap(lambda hyper: schedule.temperatures(hyper, fraction))(self.hyper)

    def all_returns(
        self,
        state: TrainState,
        temperatures: Temperatures,
        hardness: Hardness,
        episodes: int,
        key: PRNGKeyArray,
    ) -> Float[Array, "runs episodes"]:
        """Returns of every run on the same episodes of the twin."""

        def one(state: TrainState, temperatures: Temperatures) -> Array:
            return self.returns_on_twin(state.vector, state.normaliser, temperatures, hardness, episodes, key)

        return jax.vmap(one)(state, temperatures)

    def mean_returns(self, state: TrainState, at: float, hardness: Hardness, episodes: int) -> np.ndarray:
        returns = self.validate(state, self.temperatures(at), hardness, episodes, jr.key(VALIDATION_SEED))
        return np.asarray(returns, np.float64).mean(axis=1)


def train_batch(batch: Batch, folder: Path | None, announce: Callable[[str], None]) -> Progress:
    """Train all runs to the end, from the folder's checkpoint where there is one."""
    progress = batch.begin()
    checkpoint = None if folder is None else folder / CHECKPOINT
    if checkpoint is not None and has_checkpoint(checkpoint):
        progress, _ = load_checkpoint(checkpoint, progress)
        progress = Progress(progress.state, np.array(progress.curve))
    state, curve, pending = progress.state, progress.curve, []
    for rollout in range(int(state.rollout[0]) + 1, batch.num_rollouts + 1):
        state, metrics = batch.iteration(state, batch.hyper, np.float32(batch.num_rollouts))
        pending.append(metrics)
        if rollout % batch.every and rollout != batch.num_rollouts:
            continue
        curve[-(-rollout // batch.every) - 1] = measure(batch, state, pending, rollout)
        pending = []
        if checkpoint is not None:
            save_checkpoint(checkpoint, Progress(state, curve), {"rollout": rollout})
        announce(f"{batch.runs[0].task}, {len(batch.runs)} runs: rollout {rollout} of {batch.num_rollouts}")
    return Progress(state, curve)


def measure(batch: Batch, state: TrainState, pending: list[Any], rollout: int) -> np.ndarray:
    """The figures of every run since the last report."""
    rows = jax.device_get(pending)
    means = [finite_mean(np.stack([row[name] for row in rows])) for name in FIGURES[:3]]
    fraction = rollout / batch.num_rollouts
    scores = [batch.mean_returns(state, fraction, stage, VALIDATION_EPISODES) for stage in (SOFT, HARD)]
    if not np.isfinite(np.asarray(state.vector)).all():
        raise NotFiniteError(f"a parameter is not finite by rollout {rollout}: training stopped")
    return np.stack([*means, *scores]).astype(np.float32)


def finite_mean(values: np.ndarray) -> np.ndarray:
    """Means over rollouts; a rollout without a finished episode says nothing about returns."""
    counted = np.isfinite(values)
    total = np.where(counted, values, 0.0).sum(axis=0)
    return np.where(counted.any(axis=0), total / np.maximum(counted.sum(axis=0), 1), np.nan)


def execute_batch(
    runs: Sequence[Run], folder: Path | None = None, announce: Callable[[str], None] = lambda _: None
) -> list[Record]:
    """Train and score runs that share one compilation; one record each, wall time shared evenly."""
    check_batch(runs)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    batch = Batch(runs)
    state, curve = train_batch(batch, folder, announce)
    stages = [batch.mean_returns(state, 1.0, stage, GAP_EPISODES) for stage in STAGES]
    returns = final_returns(batch, state, runs[0].episodes)
    share = (time.monotonic() - began) / len(runs)
    return [
        record(
            batch, index, state, curve[..., index], [float(stage[index]) for stage in stages], returns[index]
        )
        | {"wall_seconds": round(share, 3)}
        for index in range(len(runs))
    ]


def final_returns(batch: Batch, state: TrainState, episodes: int) -> np.ndarray:
    """Returns of the hard programs on episodes of their own; as many are played as for the gap, to compile once."""
    played = max(episodes, GAP_EPISODES)
    returns = batch.validate(state, batch.temperatures(1.0), HARD, played, jr.key(EVALUATION_SEED))
    return np.asarray(returns, np.float64)[:, :episodes]


def record(
    batch: Batch,
    index: int,
    state: TrainState,
    curve: np.ndarray,
    stages: list[float],
    returns: np.ndarray,
) -> Record:
    """What one run of the batch gave."""
    run = batch.runs[index]
    agent = batch.engine.compiled_agent(jax.tree.map(lambda leaf: leaf[index], state))
    temperatures = schedule.temperatures(run.config.hyper(), 1.0)
    tree, program = agent.policy, read_off(batch.task, agent, temperatures)
    if not isinstance(tree, DerivationTree):
        raise TypeError(f"expected a derivation tree, got {type(tree).__name__}")
    lost = gap(tree, temperatures, (stages[0], stages[1], stages[2], stages[3])).to_dict()
    return header(run, device_name()) | {
        "program": str(program),
        "depth": program.depth,
        "conditions": program.conditions,
        "coefficients": program.coefficients,
        "score": scored(score_of(returns).to_dict(), returns, TWIN),
        "relaxed_score": lost["relaxed"],
        "gap": {part: lost[part] for part in ("architecture", "condition", "terminal", "total")},
        "architecture_entropy": lost["entropy"],
        "steps": batch.num_rollouts * batch.config.rollout_size,
        "curve": thinned_curve(curve_rows(batch, curve)),
    }


def curve_rows(batch: Batch, curve: np.ndarray) -> list[dict[str, float | None]]:
    """One row per report, as metrics files have them."""
    rows = []
    for report, figures in enumerate(curve, start=1):
        steps = min(report * batch.every, batch.num_rollouts) * batch.config.rollout_size
        rows.append({STEPS: float(steps)} | dict(zip(FIGURES, map(float, figures), strict=True)))
    return rows


def batch_key(run: Run) -> tuple[Any, ...]:
    """Equal for runs that one batch may hold."""
    shared = run.config.static().with_values(alpha_dual=0.0)
    return (run.task, run.method, shared, run.config.num_rollouts, run.episodes)


def check_batch(runs: Sequence[Run]) -> None:
    if not all(fits(run) for run in runs) or len({batch_key(run) for run in runs}) != 1:
        raise DiprlError(
            "one batch takes DiPRL runs of one member, without polish, on one task with a twin, "
            "that differ in traced settings only"
        )


def fits(run: Run) -> bool:
    """Whether a batch gives what the run alone would: one member, trained on a twin, extracted and left as it is."""
    simple = run.config.members == 1 and run.config.polish_share == 0
    return run.method == "diprl" and run.task in TWIN_TASKS and simple

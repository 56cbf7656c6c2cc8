"""All seeds and all traced settings of a task in one compiled call; needs JAX and a twin, and nothing else.

Scores come from the twin and say so; `rescore` measures the stored programs on the reference environment later,
wherever that is installed.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from diprl.arena.agents import Player, player_for
from diprl.arena.episodes import EVALUATION, GAP, REPORTS
from diprl.arena.score import TWIN, Gap, score_of
from diprl.errors import DiprlError
from diprl.experiment.grid import Announce, Record, finite
from diprl.extract import read_off
from diprl.methods import dtsemnet
from diprl.methods.agents import tree_agent
from diprl.methods.ladder import RUNGS, gap
from diprl.policy.base import HARD, SOFT, Hardness
from diprl.runs.observers import CURVE_METRICS, CURVE_POINTS, STEPS, thinned_curve
from diprl.runs.result import Result, provenance
from diprl.runs.spec import RunSpec
from diprl.runs.stage import Trained
from diprl.runs.trainer import engine_for, first_state, fresh_agent
from diprl.system.storage import is_stored, load_tree, save_tree
from diprl.tasks.twins.table import TWIN_TASKS
from diprl.train import schedule
from diprl.train.collectors import BatchCollector
from diprl.train.engine import TrainState
from diprl.train.loop import Progress, one_more, train

CHECKPOINT = "checkpoint"
METHODS = {"diprl": (tree_agent, read_off), "dtsemnet": (dtsemnet.dtsemnet_agent, dtsemnet.read_off)}
"""What can be batched: how to begin, and how to read the program off."""


class RunBatch:
    """Runs that fit and have one batch key: they differ in seed and traced settings only."""

    def __init__(self, runs: Sequence[RunSpec]) -> None:
        if len({batch_key(run) for run in runs}) != 1:
            raise DiprlError("one batch takes runs on one task that differ in seed and traced settings only")
        self.runs, self.task = tuple(runs), TWIN_TASKS[runs[0].task]
        self.ppo = runs[0].settings.ppo
        dual = max(run.settings.program.alpha_dual for run in runs)
        self.compiled = runs[0].settings.with_values(alpha_dual=dual).compiled()
        self.make_agent, self.read_off = METHODS[runs[0].method]
        self.engine = engine_for(self.task, self.compiled, self.make_agent)
        self.collector = BatchCollector(self.engine, [run.settings for run in runs])
        self.validate = jax.jit(self.all_returns, static_argnums=3)
        self.rows: list[dict[str, list[float | None]]] = []
        """At each report, what the curves show: a list with a number for every run."""

    def begin(self) -> TrainState:
        """The first state of every run, from the same random numbers that a run of its own would use."""

        def one(key: PRNGKeyArray) -> TrainState:
            agent_key, run_key = jr.split(key)
            agent = fresh_agent(self.make_agent, self.task, self.compiled, agent_key)
            return first_state(self.engine, agent, run_key)

        keys = jax.vmap(jr.key)(jnp.array([run.seed for run in self.runs]))
        return jax.jit(jax.vmap(one))(keys)

    def all_returns(
        self, state: TrainState, fraction: Array, hardness: Hardness, episodes: int, key: PRNGKeyArray
    ) -> Float[Array, "runs episodes"]:
        """Returns of every run on the same episodes of the twin."""
        play = player_for(self.engine).returns_on_twin

        def one(state: TrainState, numbers: Any) -> Array:
            temperatures = schedule.temperatures(numbers, fraction)
            return play(Player(state.vector, state.normaliser, temperatures, hardness), episodes, key)

        return jax.vmap(one)(state, self.collector.numbers)

    def returns(
        self, state: TrainState, fraction: float, hardness: Hardness, episodes: int, seed: int = REPORTS.seed
    ) -> np.ndarray:
        return np.asarray(self.validate(state, np.float32(fraction), hardness, episodes, jr.key(seed)), np.float64)

    def train(self, folder: Path, announce: Announce) -> TrainState:
        """Train all runs to the end, from the folder's checkpoint where there is one."""
        state, checkpoint = self.begin(), folder / CHECKPOINT
        if is_stored(checkpoint):
            state, facts = load_tree(checkpoint, state)
            self.rows = facts["rows"]

        def report(progress: Progress) -> None:
            self.rows.append(finite({name: values.tolist() for name, values in self.figures(progress).items()}))
            save_tree(checkpoint, progress.state, {"rows": self.rows})
            done = f"rollout {progress.rollout} of {self.collector.rollouts}"
            announce(f"{self.task.name}, {len(self.runs)} runs: {done}")

        return train(self.collector, state, report, CURVE_POINTS)

    def trained(self, state: TrainState, index: int) -> Trained:
        """One of the runs at the end."""
        return Trained(self.engine, jax.tree.map(lambda leaf: leaf[index], state), self.runs[index].settings)

    def gaps(self, state: TrainState) -> list[Gap]:
        """What each step from relaxed policy to program costs each run."""
        scores = np.stack([self.returns(state, 1.0, rung, GAP.on_twin).mean(axis=1) for rung in RUNGS])
        ranges = np.asarray(one_more(self.collector, state)["train/advantage_range"], np.float64)
        return [
            gap(self.trained(state, index), scores[:, index].tolist(), float(ranges[index]))
            for index in range(len(self.runs))
        ]

    def figures(self, progress: Progress) -> dict[str, np.ndarray]:
        """What the curves show, of every run since the last report."""
        episodes, steps = REPORTS.on_twin, progress.rollout * self.ppo.rollout_size
        scores = {
            f"eval/{name}": self.returns(progress.state, progress.fraction, stage, episodes).mean(axis=1)
            for name, stage in (("relaxed", SOFT), ("program", HARD))
        }
        kept = {name: progress.metrics[name] for name in CURVE_METRICS if name in progress.metrics}
        return kept | scores | {STEPS: np.full(len(self.runs), float(steps))}


def execute_batch(runs: Sequence[RunSpec], folder: Path, announce: Announce) -> list[Record]:
    """Train and score runs that share one compilation; one record each, wall time shared evenly."""
    batch = RunBatch(runs)
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    state = batch.train(folder, announce)
    gaps = batch.gaps(state) if runs[0].method == "diprl" else [None] * len(runs)
    played = max(runs[0].episodes, GAP.on_twin)  # as many as for the gap, to compile once
    returns = batch.returns(state, 1.0, HARD, played, EVALUATION.seed)[:, : runs[0].episodes]
    seconds, results = (time.monotonic() - began) / len(runs), []
    for index, spec in enumerate(runs):
        trained = batch.trained(state, index)
        rows = [{name: values[index] for name, values in row.items()} for row in batch.rows]
        result = Result(
            spec=spec,
            program=batch.read_off(batch.task, trained.agent, trained.temperatures),
            score=score_of(returns[index], environment=TWIN),
            steps={"training": trained.steps},
            gap=gaps[index],
            curve=thinned_curve(rows),
            wall_seconds=round(seconds, 3),
            **provenance(),
        )
        results.append(result.to_json())
    return results


def batch_key(run: RunSpec) -> tuple[Any, ...]:
    """Equal for runs that one batch may hold."""
    shared = run.settings.with_values(alpha_dual=0.0).compiled()
    return (run.task, run.method, shared, run.settings.ppo.num_rollouts, run.episodes)


def fits(run: RunSpec) -> bool:
    """Whether a batch gives what the run alone would: one member, trained on a twin, extracted and left as it is."""
    program = run.settings.program
    simple = program.members == 1 and program.polish_share == 0
    return run.method in METHODS and run.task in TWIN_TASKS and simple

"""What all methods share: a job to do, the training of an agent, and the outcome with its score."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Protocol

import jax
import jax.random as jr
from jaxtyping import PRNGKeyArray

from diprl.policy.agent import Agent
from diprl.policy.base import HARD, SOFT, Temperatures
from diprl.program import Program
from diprl.system.storage import is_stored as has_checkpoint
from diprl.tasks.base import Task
from diprl.train import schedule
from diprl.train.checkpoint import load_checkpoint, save_checkpoint
from diprl.train.collector import Collector, HostCollector, TwinCollector
from diprl.train.config import Config
from diprl.train.engine import Engine, TrainState
from diprl.train.evaluate import Act
from diprl.train.loop import Progress, train
from diprl.train.snapshot import Observer, Snapshot
from diprl.train.validate import Validator

VALIDATION_EPISODES = 128
REPORTS, REPORTS_PER_CHECKPOINT = 20, 5
"""Of a training on environments outside JAX."""
MEMBER_SEEDS = 100_003
"""Distance between the environment seeds of a run's members."""


class MakeAgent(Protocol):
    """Builds the untrained agent of a method."""

    def __call__(self, task: Task, config: Config, *, key: Any) -> Agent: ...


@dataclass(frozen=True)
class Job:
    """One run: what to train on, how, from which seed, and who watches."""

    task: Task
    method: str
    config: Config
    seed: int
    observers: tuple[Observer, ...] = ()
    checkpoint: Path | None = None
    """Where the run's state is kept; an existing one is continued."""
    backend: str = "auto"
    """Which environments to collect with where there is no twin."""
    env_timeout: float | None = None
    """Seconds that one step of such environments may take."""
    heed: Callable[[], None] = lambda: None
    """Called now and then where no snapshots are taken; ends the run by raising."""
    start: Agent | None = None
    """An agent to continue from instead of a fresh one."""
    member: int = 0
    """Which of several independent trainings of this run it is."""
    steps_before: int = 0
    """Environment steps that the run took before this training."""
    steps_total: int | None = None
    """Environment steps of all trainings of the run, where there are several."""

    @property
    def key(self) -> PRNGKeyArray:
        key = jr.key(self.seed)
        return jr.fold_in(key, self.member) if self.member else key


@dataclass(frozen=True)
class Trained:
    """An agent at the end of its training, with all that is needed to use or continue it."""

    engine: Engine
    validator: Validator
    state: TrainState
    temperatures: Temperatures
    steps: int
    """Environment steps it was trained for."""

    @property
    def agent(self) -> Agent:
        return self.engine.compiled_agent(self.state)


@dataclass(frozen=True)
class Outcome:
    """What a method hands over: how to act, the program if it is one, and what the run cost."""

    act: Act
    program: Program | None
    steps: int
    """All environment steps that learning used."""
    trained: Trained
    facts: dict[str, Any] = field(default_factory=dict)
    """Further results of the method, ready for JSON."""


@lru_cache(maxsize=8)
def engine_for(task: Task, static: Config, make_agent: MakeAgent) -> tuple[Engine, Validator]:
    """One engine, and so one compilation, for all runs that differ in seed and traced settings only."""
    engine = Engine(task, static, fresh_agent(make_agent, task, static, jr.key(0)))
    return engine, Validator(engine)


@partial(jax.jit, static_argnums=(0, 1, 2))
def fresh_agent(make_agent: MakeAgent, task: Task, static: Config, key: PRNGKeyArray) -> Agent:
    return make_agent(task, static, key=key)


@partial(jax.jit, static_argnums=0)
def first_state(engine: Engine, agent: Agent, key: PRNGKeyArray) -> TrainState:
    return engine.begin(agent, key=key)


Extract = Callable[[Agent, Temperatures], Program]


def train_agent(job: Job, make_agent: MakeAgent, to_program: Extract | None) -> Trained:
    """Train the agent of a method through the job's budget, showing each snapshot to the observers."""
    engine, validator = engine_for(job.task, job.config.static(), make_agent)
    state = begin(job, engine, make_agent)
    collector = make_collector(job, engine)

    def report(progress: Progress) -> bool:
        snapshot = take_snapshot(job, engine, validator, progress, to_program)
        due, ending = checkpoint_due(engine, progress), True
        try:
            wishes = [observer(snapshot) for observer in job.observers]
            ending = any(wishes)
        finally:  # an observer that ends the run by raising does not cost it its progress
            if job.checkpoint is not None and (due or ending):
                snapshot.save(job.checkpoint)  # last, so that what it claims to have seen is written down
        if due:
            collector.renew()
        return ending

    try:
        state = train(collector, state, job.config, report, reports=reports_of(job))
    finally:
        collector.close()
    steps = int(state.rollout) * job.config.rollout_size
    return Trained(engine, validator, state, schedule.temperatures(job.config.hyper(), 1.0), steps)


def reports_of(job: Job) -> int:
    """How often a training reports: members of one run share its reports where each costs a validation on the twin."""
    return max(10, 50 // job.config.members) if job.task.twin else REPORTS


def checkpoint_due(engine: Engine, progress: Progress) -> bool:
    """Whether a run that is killed should be able to go on from here, exactly as if it had not been.

    Outside JAX that takes new episodes in all environments at once. Where episodes are of much the same length they
    then stay in step, rollouts hold now only beginnings, now only ends, and learning suffers: so it is done rarely.
    """
    return engine.twin is not None or round(REPORTS * progress.fraction) % REPORTS_PER_CHECKPOINT == 0


def begin(job: Job, engine: Engine, make_agent: MakeAgent) -> TrainState:
    """The first state of a run, or the one its checkpoint holds."""
    agent_key, run_key = jr.split(job.key)
    agent = job.start or fresh_agent(make_agent, job.task, job.config.static(), agent_key)
    state = first_state(engine, agent, run_key)
    if job.checkpoint is not None and has_checkpoint(job.checkpoint):
        state, _ = load_checkpoint(job.checkpoint, state)
    return state


def make_collector(job: Job, engine: Engine) -> Collector:
    if engine.twin is not None:
        return TwinCollector(engine, job.config)
    from diprl.tasks.batches.choose import make_environments

    environments = make_environments(
        job.task,
        job.config.num_envs,
        job.backend,  # type: ignore[arg-type]
        timeout=job.env_timeout,
    )
    return HostCollector(engine, job.config, environments, job.seed + MEMBER_SEEDS * job.member)


def take_snapshot(
    job: Job, engine: Engine, validator: Validator, progress: Progress, to_program: Extract | None
) -> Snapshot:
    """Figures of the last rollouts plus validation scores of the relaxed policy and of the program."""
    temperatures = schedule.temperatures(job.config.hyper(), progress.fraction)
    episodes = VALIDATION_EPISODES if engine.twin else 5
    program = validator.score(progress.state, temperatures, HARD, episodes)
    steps = job.steps_before + progress.steps
    metrics = progress.metrics | {
        "eval/relaxed": validator.score(progress.state, temperatures, SOFT, episodes).mean,
        "eval/program": program.mean,
        **{f"eval/{name}": value for name, value in program.extra.items()},
        "time/total_timesteps": steps,
        "time/fps": progress.steps / max(progress.seconds, 1e-9),
    }

    def save(path: Path) -> None:
        save_checkpoint(path, progress.state, {"steps": steps, "seed": job.seed})

    return Snapshot(
        task=job.task,
        method=job.method,
        seed=job.seed,
        steps=steps,
        total_steps=job.steps_total or job.config.num_rollouts * job.config.rollout_size,
        seconds=progress.seconds,
        metrics=metrics,
        program=to_program(engine.compiled_agent(progress.state), temperatures) if to_program else None,
        save=save,
    )

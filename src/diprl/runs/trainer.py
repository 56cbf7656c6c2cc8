"""Trains the stages of a session: one way to count steps, to name checkpoints, to report and to finish."""

import time
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import PRNGKeyArray

from diprl.arena.episodes import REPORTS
from diprl.arena.reference import Act, evaluate, program_act
from diprl.errors import DiprlError
from diprl.policy.agent import Agent
from diprl.policy.base import HARD, SOFT
from diprl.program import Program
from diprl.runs.folder import CHECKPOINT, PROGRAM_TEXT, checkpoints
from diprl.runs.observers import MetricsLog, Observer, ProgramFile, Snapshot, TensorBoardLog, thinned_curve
from diprl.runs.result import Result, provenance
from diprl.runs.session import Session
from diprl.runs.spec import RunSpec
from diprl.runs.stage import MakeAgent, Stage, Trained
from diprl.system.device import memory
from diprl.system.storage import is_stored, load_facts, load_tree, save_tree
from diprl.tasks.base import Task
from diprl.train.collectors import Collector, HostCollector, TwinCollector
from diprl.train.directions import DirectionsCollector
from diprl.train.engine import Engine, TrainState
from diprl.train.loop import Progress, train
from diprl.train.settings import Settings

HOST_REPORTS, REPORTS_PER_CHECKPOINT = 20, 5
"""Of a training on environments outside JAX."""
MONITORING = 0.05
"""Steps for the scores of reports, as a part of those that the run has taken; they are not part of its budget."""
MEMBER_SEEDS = 100_003
"""Distance between the environment seeds of a run's members."""


class Trainer:
    """Trains one stage of a session after another and puts the result together."""

    def __init__(self, session: Session, total_steps: int | None = None) -> None:
        """`total_steps` are the environment steps of all stages; by default those of the settings."""
        self.session, self.began = session, time.monotonic()
        self.total_steps = total_steps or session.spec.settings.ppo.num_timesteps
        self.steps: dict[str, int] = {}
        self.monitoring, self.last_scores = 0, {"eval/program": float("nan")}
        """Steps for the scores of reports, at most, and the last of these scores."""
        self.ended = ""
        """Why it ended before its budget was used up, where it did."""
        folder = session.folder
        self.log = MetricsLog(folder, done_steps(folder) if folder and session.resume else 0)
        writers: list[Observer] = [self.log, *([ProgramFile(folder / PROGRAM_TEXT)] if folder else [])]
        if folder and session.tensorboard:
            writers.append(TensorBoardLog(folder / "tensorboard"))
        self.observers = (*writers, *session.observers)

    def count(self, purpose: str, steps: int) -> None:
        """Add environment steps to those that the run has taken."""
        self.steps[purpose] = self.steps.get(purpose, 0) + steps

    def train(self, stage: Stage) -> Trained:
        """Train an agent through the stage's budget, showing each snapshot to the observers."""
        check_memory(stage.settings, self.session.task)
        engine = engine_for(self.session.task, stage.settings.compiled(), stage.make_agent)
        state = self.begin(stage, engine)
        collector = self.collector(stage.settings, engine, stage.member)
        before = sum(self.steps.values()) - stage.earlier

        def report(progress: Progress) -> bool:
            snapshot = self.snapshot(stage, engine, progress, before)
            due, ending = checkpoint_due(engine, progress) or progress.fraction >= stage.until, True
            try:
                wishes = [observer(snapshot) for observer in self.observers]
                ending = any(wishes)
            finally:  # an observer that ends the run by raising does not cost it its progress
                if self.session.folder is not None and (due or ending):
                    snapshot.save(self.session.folder / f"{CHECKPOINT}{stage.name}")
            if due:
                collector.renew()
            return ending

        try:
            reports = stage.reports if engine.twin else HOST_REPORTS
            state = train(collector, state, report, reports, stage.until)
        finally:
            collector.close()
        trained = Trained(engine, state, stage.settings, stage.until)
        self.count(stage.purpose, trained.steps - stage.earlier)
        return trained

    def begin(self, stage: Stage, engine: Engine) -> TrainState:
        """The first state of a stage, or its checkpoint's; an earlier part lends a copy, which learning overwrites."""
        key = jr.key(self.session.spec.seed)
        agent_key, run_key = jr.split(jr.fold_in(key, stage.member) if stage.member else key)
        agent = stage.start or self.session.start
        if agent is None:
            agent = fresh_agent(stage.make_agent, self.session.task, stage.settings.compiled(), agent_key)
        state = first_state(engine, agent, run_key)
        if stage.goes_on is not None:
            state = jax.tree.map(jnp.copy, stage.goes_on.state)
        folder = self.session.folder
        if folder and is_stored(path := folder / f"{CHECKPOINT}{stage.name}"):
            state, facts = load_tree(path, state)
            check_origin(path, facts, self.session.spec)
        return state

    def collector(self, settings: Settings, engine: Engine, member: int = 0) -> Collector:
        if engine.twin is not None:
            return TwinCollector(engine, settings)
        from diprl.tasks.batches.choose import make_environments

        session = self.session
        batch = make_environments(session.task, settings.ppo.num_envs, session.backend, timeout=session.env_timeout)
        seed = session.spec.seed + MEMBER_SEEDS * member
        collect = DirectionsCollector if settings.program.directions else HostCollector
        return collect(engine, settings, batch, seed)

    def snapshot(self, stage: Stage, engine: Engine, progress: Progress, before: int) -> Snapshot:
        """Figures of the last rollouts plus validation scores of the relaxed policy and of the program."""
        spec, task = self.session.spec, self.session.task
        trained = Trained(engine, progress.state, stage.settings, progress.fraction)
        taken = progress.rollout * stage.settings.ppo.rollout_size
        steps = before + taken
        metrics = progress.metrics | {
            **self.monitored(trained, steps, progress.metrics["rollout/ep_rew_mean"]),
            "time/total_timesteps": steps,
            "time/fps": (taken - stage.earlier) / max(progress.seconds, 1e-9),
        }
        return Snapshot(
            task=task,
            method=spec.method,
            seed=spec.seed,
            steps=steps,
            total_steps=self.total_steps,
            seconds=progress.seconds,
            metrics=metrics,
            program=stage.to_program(trained.agent, trained.temperatures) if stage.to_program else None,
            save=partial(save_trained, trained, spec, steps=steps, stage=stage.name),
        )

    def monitored(self, trained: Trained, steps: int, sampled: float) -> dict[str, float]:
        """How well the relaxed policy and its program do now, which decides nothing.

        Outside a twin the relaxed policy is judged by what it earned while training, and the program by as many
        episodes as a small part of the steps so far allows; where that is none, its last score stands.
        """
        task, temperatures, episodes = self.session.task, trained.temperatures, REPORTS.count(self.session.task)
        if task.twin is not None:
            sampled = trained.player.score(trained.state, temperatures, SOFT, episodes).mean
        else:
            episodes = min(episodes, int((MONITORING * steps - self.monitoring) // task.horizon))
        if episodes > 0:
            score = trained.player.score(trained.state, temperatures, HARD, episodes)
            self.monitoring += episodes * task.horizon
            extra = {f"eval/{name}": value for name, value in score.extra.items()}
            self.last_scores = {"eval/program": score.mean, **extra}
        return {"eval/relaxed": sampled, **self.last_scores}

    def finish(self, trained: Trained, program: Program | None, **parts: Any) -> Result:
        """The result of the run: what it hands over, scored on the reference environment."""
        session = self.session
        return Result(
            spec=session.spec,
            program=program,
            score=evaluate(session.task, acting(session.task, trained, program), session.spec.episodes),
            steps=self.steps,
            ended=self.ended,
            curve=thinned_curve(self.log.rows),
            wall_seconds=round(time.monotonic() - self.began, 3),
            trained=trained,
            **provenance(),
            **parts,
        )


def acting(task: Task, trained: Trained, program: Program | None) -> Act:
    """How the outcome of a run acts: by its program, or as the network it is."""
    return program_act(task, program) if program else trained.player.act(trained.state, trained.temperatures)


def check_memory(settings: Settings, task: Task) -> None:
    """Refuse settings with which an update would not fit into memory; what it needs is estimated."""
    ppo, depth = settings.ppo, settings.program.max_depth
    kept = ppo.rollout_size * (8 * task.layout.size + 4 * ppo.hidden_size + 8 * depth)
    needed, there_is = 4.0 * (kept + ppo.minibatch_size * (8 * ppo.hidden_size + 40 * depth)), memory()
    if needed > there_is:
        sizes = f"about {needed / 1e9:.0f} GB of memory, and there are {there_is / 1e9:.0f}"
        raise DiprlError(f"an update with these settings needs {sizes}: lower num_envs, num_steps or hidden_size")


@lru_cache(maxsize=8)
def engine_for(task: Task, compiled: Settings, make_agent: MakeAgent) -> Engine:
    """One engine, and so one compilation, for all runs that differ in seed and traced settings only."""
    return Engine(task, compiled, fresh_agent(make_agent, task, compiled, jr.key(0)))


@partial(jax.jit, static_argnums=(0, 1, 2))
def fresh_agent(make_agent: MakeAgent, task: Task, compiled: Settings, key: PRNGKeyArray) -> Agent:
    return make_agent(task, compiled, key=key)


@partial(jax.jit, static_argnums=0)
def first_state(engine: Engine, agent: Agent, key: PRNGKeyArray) -> TrainState:
    return engine.begin(agent, key=key)


def save_trained(trained: Trained, spec: RunSpec, path: Path, **facts: Any) -> None:
    """Write the whole state of a training, with what it takes to open it again."""
    known = {"spec": spec.to_json(), "settings": trained.settings.values(), "fraction": trained.fraction}
    save_tree(path, trained.state, known | facts)


def load_trained(path: Path, task: Task, spec: RunSpec, make_agent: MakeAgent) -> Trained:
    """What `save_trained` wrote; settings that the run has chosen differ from those it was asked for."""
    settings = Settings().with_values(**load_facts(path).get("settings", spec.settings.values()))
    compiled = settings.compiled()
    engine = engine_for(task, compiled, make_agent)
    blank = first_state(engine, fresh_agent(make_agent, task, compiled, jr.key(0)), jr.key(0))
    state, facts = load_tree(path, blank)
    return Trained(engine, state, settings, float(facts["fraction"]))


def checkpoint_due(engine: Engine, progress: Progress) -> bool:
    """Whether a run that is killed should be able to go on from here, exactly as if it had not been.

    Outside JAX that takes new episodes in all environments at once. Where episodes are of much the same length they
    then stay in step, rollouts hold now only beginnings, now only ends, and learning suffers: so it is done rarely.
    """
    return engine.twin is not None or round(HOST_REPORTS * progress.fraction) % REPORTS_PER_CHECKPOINT == 0


def check_origin(path: Path, facts: dict[str, Any], spec: RunSpec) -> None:
    """Refuse a checkpoint that another run has written."""
    origin = facts.get("spec")
    if not isinstance(origin, dict) or origin.get("key") != spec.key:
        raise DiprlError(f"{path}: the checkpoint belongs to another run, not to {spec.title}")


def done_steps(folder: Path) -> int:
    """Environment steps that the checkpoints of a run stand for."""
    done = 0
    for path in checkpoints(folder):
        steps = load_facts(path).get("steps")
        if not isinstance(steps, int):
            raise DiprlError(f"{path}: the checkpoint does not say how many steps it stands for")
        done = max(done, steps)
    return done

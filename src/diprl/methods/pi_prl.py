"""pi-PRL: search with a relaxed program, extract the likeliest shape, then fine-tune that program.

One run gives three results: the relaxed policy at the end of the search, the program extracted from it, and the program
after fine-tuning, which keeps its shape and trains with soft conditions. The last one is what the run hands over.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx

from diprl.errors import DiprlError
from diprl.extract import embed
from diprl.methods.acting import agent_act
from diprl.methods.agents import tree_agent
from diprl.methods.base import Job, Outcome, Trained, train_agent
from diprl.methods.diprl import measure_gap, read_off, tree_of
from diprl.policy.agent import Agent
from diprl.policy.base import SOFT
from diprl.policy.derivation_tree import DiscreteTerminals
from diprl.program import Program
from diprl.program.signature import Discrete
from diprl.runs import TUNING_CHECKPOINT
from diprl.tasks.base import Task
from diprl.train import schedule
from diprl.train.config import Config
from diprl.train.evaluate import evaluate, evaluate_program, program_act
from diprl.train.snapshot import Observer, Snapshot

DISCRETE_SHARE, CONTINUOUS_SHARE = 0.2, 0.5
TASK_SHARE = {"Pusher2D": 0.8}
"""The share of the budget that fine-tuning takes where it is neither of the two."""
STAGE_EPISODES = 100


def fit(job: Job) -> Outcome:
    """Search, extract, fine-tune; the stages are scored on the same episodes of the reference environment."""
    search, tuning = split_budget(job.config, tuning_share(job.task))
    found = learn(search_job(job, search))
    extracted = program_of(job.task, found)
    facts: dict[str, Any] = {
        "gap": measure_gap(found).to_dict(),
        "stages": {"relaxed": evaluate(job.task, agent_act(found, SOFT), STAGE_EPISODES).to_dict()},
        "extracted_program": str(extracted),
        "search_steps": found.steps,
    }
    tuned = learn(tuning_job(job, tuning, found, extracted))
    program = program_of(job.task, tuned)
    for stage, result in (("extracted", extracted), ("fine_tuned", program)):
        facts["stages"][stage] = evaluate_program(job.task, result, STAGE_EPISODES).to_dict()
    return Outcome(program_act(job.task, program), program, found.steps + tuned.steps, tuned, facts)


def learn(job: Job) -> Trained:
    return train_agent(job, tree_agent, lambda agent, at: read_off(job.task, agent, at))


def program_of(task: Task, trained: Trained) -> Program:
    return read_off(task, trained.agent, trained.temperatures)


def tuning_share(task: Task) -> float:
    discrete = isinstance(task.signature.actions, Discrete)
    return TASK_SHARE.get(task.name, DISCRETE_SHARE if discrete else CONTINUOUS_SHARE)


def split_budget(config: Config, share: float) -> tuple[Config, Config]:
    """Settings of the search and of the fine-tuning, which together use the whole budget."""
    rollouts = config.num_rollouts
    if rollouts < 2:
        raise DiprlError(
            f"total_timesteps {config.total_timesteps} is one rollout, but pi-PRL needs one to search and one to "
            f"fine-tune: give it more than {config.rollout_size}"
        )
    tuning = min(max(round(share * rollouts), 1), rollouts - 1)
    parts = [(rollouts - tuning) * config.rollout_size, tuning * config.rollout_size]
    return (
        config.with_values(total_timesteps=parts[0]),
        config.with_values(total_timesteps=parts[1], architecture_period=0),
    )


def search_job(job: Job, config: Config) -> Job:
    observers = shifted(job.observers, 0, total_steps(job.config))
    return replace(job, config=config, observers=observers)


def tuning_job(job: Job, config: Config, found: Trained, program: Program) -> Job:
    """Training that starts from the extracted program, with a checkpoint of its own."""
    return replace(
        job,
        config=config,
        observers=shifted(job.observers, found.steps, total_steps(job.config)),
        checkpoint=job.checkpoint and job.checkpoint.with_name(TUNING_CHECKPOINT),
        start=relaxed_again(program, found, config),
    )


def total_steps(config: Config) -> int:
    return config.num_rollouts * config.rollout_size


def relaxed_again(program: Program, found: Trained, config: Config) -> Agent:
    """The program as an agent to train: its shape is certain, and all it was found with goes along.

    The normalisation, the critic and the deviations are those at the end of the search; the terminals' temperature is
    the one that training is about to use, so that a blend keeps its weights.
    """
    agent, before = found.agent, tree_of(found)
    temperatures = schedule.temperatures(config.hyper(), 0.0)
    tree = embed(program, before.max_depth, temperatures, agent.normaliser)
    if not isinstance(before.terminals, DiscreteTerminals):
        tree = eqx.tree_at(lambda t: t.terminals.log_std, tree, before.terminals.log_std)
    return eqx.tree_at(lambda a: a.policy, agent, tree)


def shifted(observers: Sequence[Observer], done: int, total: int) -> tuple[Observer, ...]:
    """Observers that see one phase as a part of the whole run."""

    def in_place(snapshot: Snapshot) -> Snapshot:
        steps = snapshot.steps + done
        metrics = snapshot.metrics | {"time/total_timesteps": steps}
        return replace(snapshot, steps=steps, total_steps=total, metrics=metrics)

    return tuple(lambda snapshot, observe=observe: observe(in_place(snapshot)) for observe in observers)

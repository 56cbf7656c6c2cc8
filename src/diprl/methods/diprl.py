"""DiPRL: train a relaxed program while driving its architecture to a discrete one, then read the program off."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from diprl.extract import DECIDED, STAGES, Gap, extract, gap, likeliest_depth
from diprl.improve.fitness import make_fitness
from diprl.improve.polish import polish_within
from diprl.methods.agents import tree_agent
from diprl.methods.base import Job, Outcome, Trained, train_agent
from diprl.policy.agent import Agent
from diprl.policy.base import HARD, Temperatures
from diprl.policy.derivation_tree import DerivationTree
from diprl.program import Program
from diprl.tasks.base import Task
from diprl.train.config import Config
from diprl.train.engine import TrainState
from diprl.train.evaluate import program_act

GAP_EPISODES = 512
TRAINING_SHARE = 0.94
"""Part of the budget that members train with; the rest is for validating them."""
MEMBER_EPISODES = 256
MEMBER_ROUND = 555_555
"""Number of the round of episodes that chooses among members."""


def fit(job: Job) -> Outcome:
    """Relax, regularise, extract, and spend the rest of the budget on the discrete program itself."""
    search_steps = int(job.config.polish_share * job.config.total_timesteps)
    trained, steps = best_member(job, job.config.total_timesteps - search_steps)
    program = read_off(job.task, trained.agent, trained.temperatures)
    measured = measure_gap(trained)
    facts: dict[str, Any] = {
        "gap": measured.to_dict(),
        "depths": depth_table(job.task, trained, measured.relaxed),
    }
    if search_steps:
        polished = polish_within(job.task, program, search_steps, job.seed, job.heed)
        program, steps = polished.program, steps + polished.steps
        facts["polish"] = polished.facts()
    return Outcome(program_act(job.task, program), program, steps, trained, facts)


def best_member(job: Job, budget: int) -> tuple[Trained, int]:
    """Train members one after another, each from its own start with an equal part of the budget.

    The one whose program scores best on validation episodes stays; a member that solves the task ends the search
    for another. All steps count, those of validation included.
    """
    count, steps = job.config.members, 0
    share = budget if count == 1 else int(TRAINING_SHARE * budget) // count
    config = job.config.with_values(total_timesteps=share)
    best: tuple[float, Trained] | None = None
    for member in range(count):
        trained = train_agent(
            member_job(job, config, member, steps, budget), tree_agent, partial(read_off, job.task)
        )
        steps += trained.steps
        if count == 1:
            return trained, steps
        score, played = validation_score(job.task, read_off(job.task, trained.agent, trained.temperatures))
        steps += played
        if best is None or score > best[0]:
            best = (score, trained)
        if job.task.solved_return is not None and score >= job.task.solved_return:
            break
    assert best is not None  # there is at least one member
    return best[1], steps


def member_job(job: Job, config: Config, member: int, steps: int, budget: int) -> Job:
    """The part of a run that one member is."""
    checkpoint = job.checkpoint
    if checkpoint is not None and member:
        checkpoint = checkpoint.with_name(f"{checkpoint.name}-{member}")
    return replace(
        job, config=config, member=member, checkpoint=checkpoint, steps_before=steps, steps_total=budget
    )


def validation_score(task: Task, program: Program) -> tuple[float, int]:
    """Mean return on episodes kept for choosing among members, and the steps they took."""
    returns = make_fitness(task, program)([program], MEMBER_EPISODES, MEMBER_ROUND)
    return float(returns.values.mean()), returns.steps


def read_off(task: Task, agent: Agent, temperatures: Temperatures, depth: int | None = None) -> Program:
    return extract(agent, task.signature, temperatures, depth=depth, task=task.name)


def measure_gap(trained: Trained, episodes: int | None = None) -> Gap:
    """What each hardening costs, on the same starts; on the twin where there is one."""
    episodes = episodes or (GAP_EPISODES if trained.engine.twin else 100)
    scores = [
        float(trained.validator.returns(trained.state, trained.temperatures, stage, episodes).mean())
        for stage in STAGES
    ]
    return gap(tree_of(trained), trained.temperatures, (scores[0], scores[1], scores[2], scores[3]))


def depth_table(task: Task, trained: Trained, relaxed: float) -> list[dict[str, Any]]:
    """One row per depth the tree holds: size, validation score, gap to the relaxed policy, and which one was picked."""
    tree = tree_of(trained)
    picked = likeliest_depth(tree, float(trained.temperatures.architecture))
    episodes = GAP_EPISODES if trained.engine.twin else 10
    rows = []
    for depth in range(1, tree.max_depth + 1):
        program = read_off(task, trained.agent, trained.temperatures, depth)
        state = at_depth(trained.state, tree.max_depth, depth)
        score = float(trained.validator.returns(state, trained.temperatures, HARD, episodes).mean())
        rows.append(
            {
                "depth": depth,
                "conditions": program.conditions,
                "coefficients": program.coefficients,
                "score": score,
                "gap": relaxed - score,
                "picked": depth == picked,
            }
        )
    return rows


def at_depth(state: TrainState, max_depth: int, depth: int) -> TrainState:
    """The same tree, certain of one depth; the architecture is the first group of the vector."""
    continues = np.arange(max_depth - 1) < depth - 1
    logits = np.where(np.stack([~continues, continues], axis=-1), DECIDED, 0.0)
    vector = np.array(state.vector)
    vector[: logits.size] = logits.reshape(-1)
    return state._replace(vector=vector)


def tree_of(trained: Trained) -> DerivationTree:
    tree = trained.agent.policy
    if not isinstance(tree, DerivationTree):
        raise TypeError(f"expected a derivation tree, got {type(tree).__name__}")
    return tree

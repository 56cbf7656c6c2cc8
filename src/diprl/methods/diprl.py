"""DiPRL: train a relaxed program while driving its architecture to a discrete one, then read the program off."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from diprl.arena.episodes import DEPTHS, GAP, MEMBERS_EPISODES, MEMBERS_ROUND
from diprl.arena.programs import program_player
from diprl.arena.score import Gap
from diprl.extract import DECIDED, depth_probabilities, extract, likeliest_depth
from diprl.methods.agents import tree_agent
from diprl.policy.agent import Agent
from diprl.policy.base import HARD, SOFT, Hardness, Temperatures
from diprl.policy.derivation_tree import DerivationTree
from diprl.program import Program
from diprl.runs.result import Depth, Result
from diprl.runs.session import Session
from diprl.runs.trainer import Stage, Trained, Trainer
from diprl.search.polish import polish_within
from diprl.tasks.base import Task
from diprl.train.engine import TrainState

TRAINING_SHARE = 0.94
"""Part of the budget that members train with; the rest is for validating them."""
STAGES: tuple[Hardness, ...] = (SOFT, Hardness(architecture=True), Hardness(True, True), HARD)
"""From the relaxed policy to the program, one kind of hardening at a time."""


def fit(session: Session) -> Result:
    """Relax, regularise, extract, and spend the rest of the budget on the discrete program itself."""
    spec, task = session.spec, session.task
    budget = spec.settings.ppo.total_timesteps
    search_steps = int(spec.settings.program.polish_share * budget)
    trainer = Trainer(session, budget - search_steps)
    trained = best_member(trainer, budget - search_steps)
    program = read_off(task, trained.agent, trained.temperatures)
    cost = measure_gap(task, trained)
    depths = depth_table(task, trained, cost.relaxed)
    if not search_steps:
        return trainer.finish(trained, program, gap=cost, depths=depths)
    polished = polish_within(task, program, search_steps, spec.seed, session.interrupt)
    trainer.count("search", polished.trial.steps)
    return trainer.finish(trained, polished.program, gap=cost, depths=depths, polish=polished.trial)


def best_member(trainer: Trainer, budget: int) -> Trained:
    """Train members one after another, each from its own start with an equal part of the budget.

    The one whose program scores best on validation episodes stays; a member that solves the task ends the search
    for another. All steps count, those of validation included.
    """
    task, settings = trainer.session.task, trainer.session.spec.settings
    count = settings.program.members
    share = budget if count == 1 else int(TRAINING_SHARE * budget) // count
    validated: list[tuple[float, Trained]] = []
    for member in range(count):
        trained = trainer.train(
            Stage(
                name=f"member-{member}",
                settings=settings.with_values(total_timesteps=share),
                make_agent=tree_agent,
                to_program=partial(read_off, task),
                member=member,
                reports=max(10, 50 // count),
            )
        )
        if count == 1:
            return trained
        score = validation_score(trainer, read_off(task, trained.agent, trained.temperatures))
        validated.append((score, trained))
        if task.solved_return is not None and score >= task.solved_return:
            break
    return max(validated, key=lambda member: member[0])[1]


def validation_score(trainer: Trainer, program: Program) -> float:
    """Mean return on episodes kept for choosing among members."""
    play = program_player(trainer.session.task, program)
    returns = play([program], MEMBERS_EPISODES, MEMBERS_ROUND)
    trainer.count("validation", returns.steps)
    return float(returns.values.mean())


def read_off(task: Task, agent: Agent, temperatures: Temperatures, depth: int | None = None) -> Program:
    return extract(agent, task.signature, temperatures, depth=depth, task=task.name)


def measure_gap(task: Task, trained: Trained) -> Gap:
    """What each hardening costs, on the same starts; on the twin where there is one."""
    state, temperatures, episodes = trained.state, trained.temperatures, GAP.count(task)
    scores = [trained.player.score(state, temperatures, stage, episodes).mean for stage in STAGES]
    return gap(tree_of(trained), temperatures, scores)


def gap(tree: DerivationTree, temperatures: Temperatures, stage_scores: Sequence[float]) -> Gap:
    """The three losses from the scores of the four stages."""
    relaxed, architecture, conditions, hard = stage_scores
    depths = np.asarray(depth_probabilities(tree, temperatures.architecture), np.float64)
    depths = depths / depths.sum()
    entropy = abs(float(sum(p * np.log(p) for p in depths if p > 0)))
    return Gap(
        relaxed=relaxed,
        architecture=relaxed - architecture,
        condition=architecture - conditions,
        terminal=conditions - hard,
        mass=float(1.0 - depths.max()),
        entropy=entropy / float(np.log(max(len(depths), 2))),
        bound=float(1.0 - np.exp(-entropy)),
    )


def depth_table(task: Task, trained: Trained, relaxed: float) -> tuple[Depth, ...]:
    """One row per depth the tree holds: size, validation score, gap to the relaxed policy, and which one was picked."""
    tree, temperatures = tree_of(trained), trained.temperatures
    picked = likeliest_depth(tree, float(temperatures.architecture))
    rows = []
    for depth in range(1, tree.max_depth + 1):
        program = read_off(task, trained.agent, temperatures, depth)
        state = at_depth(trained.state, tree.max_depth, depth)
        score = trained.player.score(state, temperatures, HARD, DEPTHS.count(task)).mean
        sizes = (depth, program.conditions, program.coefficients)
        rows.append(Depth(*sizes, score=score, gap=relaxed - score, picked=depth == picked))
    return tuple(rows)


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

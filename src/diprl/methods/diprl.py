"""DiPRL: train a relaxed program while driving its architecture to a discrete one, then read the program off."""

from dataclasses import replace
from functools import partial

import numpy as np

from diprl.arena.episodes import MEMBERS_EPISODES, MEMBERS_ROUND
from diprl.extract import read_off
from diprl.methods.agents import tree_agent
from diprl.methods.candidates import best_candidate
from diprl.methods.ladder import measure_gap
from diprl.methods.retrain import thinned
from diprl.program import Program
from diprl.runs.result import Result
from diprl.runs.session import Session
from diprl.runs.stage import Stage, Trained
from diprl.runs.trainer import Trainer
from diprl.search.digits import DIGITS, rounded
from diprl.search.front import Front, Limits
from diprl.search.larger import grown
from diprl.search.shrink import shrink
from diprl.search.trials import Spent, Trials

TRAINING_SHARE = 0.94
"""Part of the budget that members train with; the rest is for validating them."""
GROWING = 0.7
"""Part of the search's steps, at the most, in which a program that picks among primitives gains conditions."""


def fit(session: Session) -> Result:
    """Relax, regularise, extract; the rest of the budget makes programs that are shorter, rounder and better."""
    spec, task = session.spec, session.task
    budget = spec.settings.ppo.total_timesteps
    steps = int(spec.settings.program.polish_share * budget)
    thinning = int(spec.settings.program.thin_share * steps)
    trainer = Trainer(session, budget - steps + thinning)
    stage = Stage("training", spec.settings, tree_agent, partial(read_off, task))
    if spec.settings.program.candidates > 1:
        trained, chosen = best_candidate(trainer, stage, budget - steps)
    else:
        trained, chosen = best_member(trainer, stage, budget - steps), {}
    extracted = read_off(task, trained.agent, trained.temperatures)
    cost = measure_gap(trainer, trained)
    program = thinned(trainer, trained, extracted, thinning) if thinning else extracted
    front = shorten(trainer, program, extracted, min(steps, budget - sum(trainer.steps.values())))
    if front is None:
        return trainer.finish(trained, extracted, gap=cost, chosen=chosen)
    return trainer.finish(trained, front.program, front=front, extracted=extracted, gap=cost, chosen=chosen)


def shorten(trainer: Trainer, program: Program, extracted: Program, steps: int) -> Front | None:
    """Programs of many sizes and the one to take; None where the steps do not allow a few episodes.

    If training on has changed the program, the one before competes as well.
    """
    if steps <= 0:
        return None
    session, program_settings = trainer.session, trainer.session.spec.settings.program
    sizes = program_settings.max_numbers or None, program_settings.max_conditions or None
    limits = Limits(*sizes, required=session.task.required)
    largest = max(program, extracted, key=lambda each: each.conditions)
    trials = Trials(session.task, largest, steps, interrupt=session.interrupt)
    try:
        if program_settings.choose_primitives:
            with trials.part(GROWING):
                program = grown(trials, program)
        others = [rounded(extracted, DIGITS[-1])] if program != extracted else []
        return shrink(trials, program, limits, seed=session.spec.seed, others=others)
    except Spent:
        return None
    finally:
        trainer.count("search", trials.steps)


def best_member(trainer: Trainer, stage: Stage, budget: int) -> Trained:
    """Train members one after another, each from its own start with an equal part of the budget.

    The one whose program scores best on validation episodes stays; a member that solves the task ends the search
    for another. All steps count, those of validation included.
    """
    task, settings = trainer.session.task, trainer.session.spec.settings
    count, rollout = settings.program.members, settings.ppo.rollout_size
    share = budget if count == 1 else max(rollout, int(TRAINING_SHARE * budget) // count // rollout * rollout)
    validated: list[tuple[float, Trained]] = []
    stage = replace(stage, settings=settings.with_values(total_timesteps=share), reports=max(10, 50 // count))
    for member in range(count):
        trained = trainer.train(replace(stage, name=f"member-{member}", member=member))
        if count == 1:
            return trained
        program = read_off(task, trained.agent, trained.temperatures)
        score = validation_score(trainer, program, (1.0 - TRAINING_SHARE) * budget / count)
        validated.append((score, trained))
        if task.solved_return is not None and score >= task.solved_return:
            if member + 1 < count:
                trainer.ended = f"validation reached {score:g}"
            break
    return max(validated, key=lambda member: member[0])[1]


def validation_score(trainer: Trainer, program: Program, steps: float) -> float:
    """Mean return on episodes kept for choosing among members, as many as fit into the steps."""
    trials = Trials(trainer.session.task, program, steps)
    try:
        return float(trials.play([program], MEMBERS_EPISODES, MEMBERS_ROUND).mean())
    except Spent:
        return -np.inf
    finally:
        trainer.count("validation", trials.steps)

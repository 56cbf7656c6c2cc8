"""pi-PRL: search with a relaxed program, extract the likeliest shape, then fine-tune that program.

One run gives three results: the relaxed policy at the end of the search, the program extracted from it, and the program
after fine-tuning, which keeps its shape and trains with soft conditions. The last one is what the run hands over.
"""

from functools import partial

import equinox as eqx

from diprl.arena.episodes import EVALUATION
from diprl.arena.reference import evaluate, evaluate_program
from diprl.errors import DiprlError
from diprl.extract import decided, embed, likeliest_depth, read_off
from diprl.methods.agents import tree_agent
from diprl.methods.ladder import measure_gap, tree_of
from diprl.policy.agent import Agent
from diprl.policy.base import SOFT
from diprl.policy.terminals import DiscreteTerminals
from diprl.program import Program
from diprl.program.signature import Discrete
from diprl.runs.result import Result
from diprl.runs.session import Session
from diprl.runs.stage import Stage, Trained
from diprl.runs.trainer import Trainer
from diprl.tasks.base import Task
from diprl.train import schedule
from diprl.train.settings import Settings

DISCRETE_SHARE, CONTINUOUS_SHARE = 0.2, 0.5
TASK_SHARE = {"Pusher2D": 0.8}
"""The share of the budget that fine-tuning takes where it is neither of the two."""
STAGE_EPISODES = EVALUATION.on_reference
SEARCH, TUNING = "relaxed_search", "fine_tuning"
"""What the steps of the two stages are counted as."""


def fit(session: Session) -> Result:
    """Search, extract, fine-tune; the stages are scored on the same episodes of the reference environment."""
    task, trainer = session.task, Trainer(session)
    search, tuning = split_budget(session.spec.settings, tuning_share(task))
    reader = partial(read_off, task)
    found = trainer.train(Stage("search", search, tree_agent, reader, purpose=SEARCH))
    extracted = reader(found.agent, found.temperatures)
    cost = measure_gap(trainer, found)
    relaxed = evaluate(task, found.player.act(found.state, found.temperatures, SOFT), STAGE_EPISODES)
    start = relaxed_again(extracted, found, tuning)
    tuned = trainer.train(Stage("tuning", tuning, tree_agent, reader, start, purpose=TUNING))
    program = reader(tuned.agent, tuned.temperatures)
    stages = {"relaxed": relaxed.summary()}
    for name, each in (("extracted", extracted), ("fine_tuned", program)):
        stages[name] = evaluate_program(task, each, STAGE_EPISODES).summary()
    return trainer.finish(tuned, program, gap=cost, stages=stages, extracted=extracted)


def tuning_share(task: Task) -> float:
    discrete = isinstance(task.signature.actions, Discrete)
    return TASK_SHARE.get(task.name, DISCRETE_SHARE if discrete else CONTINUOUS_SHARE)


def split_budget(settings: Settings, share: float) -> tuple[Settings, Settings]:
    """Settings of the search and of the fine-tuning, which together use the whole budget."""
    size, rollouts = settings.ppo.rollout_size, settings.ppo.num_rollouts
    if rollouts < 2:
        short = f"total_timesteps {settings.ppo.total_timesteps} is one rollout"
        raise DiprlError(f"{short}, but pi-PRL needs one to search and one to fine-tune: give it more than {size}")
    tuning = min(max(round(share * rollouts), 1), rollouts - 1)
    search = settings.with_values(total_timesteps=(rollouts - tuning) * size)
    return search, settings.with_values(total_timesteps=tuning * size, architecture_period=0)


def relaxed_again(program: Program, found: Trained, settings: Settings) -> Agent:
    """The program as an agent to train: its shape is certain, and all it was found with goes along.

    As published, that is every number of the search. Otherwise each branch begins with the one action it was read off
    with; the normalisation, the critic and the deviations are still those of the search, and the terminals'
    temperature is the one that training is about to use, so that a blend keeps its weights.
    """
    agent, before = found.agent, tree_of(found)
    if settings.program.keep_action_weights:
        shape = decided(likeliest_depth(before, float(found.temperatures.architecture)), before.max_depth)
        return eqx.tree_at(lambda a: a.policy.architecture, agent, shape)
    temperatures = schedule.temperatures(settings.numbers(), 0.0)
    tree = embed(program, before.max_depth, temperatures, agent.normaliser)
    if not isinstance(before.terminals, DiscreteTerminals):
        tree = eqx.tree_at(lambda t: t.terminals.log_std, tree, before.terminals.log_std)
    return eqx.tree_at(lambda a: a.policy, agent, tree)

"""Train on from a program that exists, such as one that was edited or has lost some of its numbers."""

from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import PRNGKeyArray
from numpy.typing import NDArray

from diprl.arena.reference import visited_views
from diprl.extract import embed, read_off
from diprl.methods.agents import tree_agent
from diprl.methods.presets import settings_for
from diprl.policy.agent import Agent, make_normaliser
from diprl.policy.base import Temperatures
from diprl.policy.derivation_tree import DerivationTree
from diprl.policy.terminals import DiscreteTerminals
from diprl.program import Program
from diprl.program.ast import Condition, assemble, conditions, flatten, is_chain
from diprl.program.signature import Discrete
from diprl.runs.session import Session
from diprl.runs.spec import RunSpec
from diprl.runs.stage import Stage, Trained
from diprl.runs.trainer import Trainer
from diprl.search.shrink import Tune
from diprl.search.smaller import merged
from diprl.search.trials import Trials
from diprl.tasks.base import Task
from diprl.train import schedule
from diprl.train.settings import Settings

GENTLE: dict[str, Any] = {
    "members": 1,
    "polish_share": 0.0,
    "normalise": False,
    "learning_rate": 3e-3,
    "clip_range": 0.2,
    "entropy_coefficient": 0.0,
    "condition_temperature": 0.1,
    "condition_temperature_end": 0.05,
    "harden_from": 0.0,
    "architecture_from": 0.0,
    "support_at": 0.6,
    "leaf_difference": 1.0,
}
"""Small steps from nearly sharp conditions, for the program is good already.

Statistics stay as they are: the first rollouts, all beginnings of episodes, would move them faster than the
weights could follow.
"""
BOLD: dict[str, Any] = GENTLE | {
    "learning_rate": 0.01,
    "clip_range": 0.3,
    "entropy_coefficient": 0.01,
    "condition_temperature": 0.3,
    "condition_temperature_end": 0.07,
    "harden_to": 0.7,
}
"""Larger steps from softer conditions, to leave a local optimum: a program that has become worse is not taken."""
LOGIT_FACTOR = 3.0
"""On the logits of embedded actions, so that training begins with nearly no doubt about them."""
FEW_EPISODES, MANY_EPISODES = 16, 512
"""That show whether a program may still become better, and the most that compare it with its trained version."""
FEWEST_STEPS, MOST_STEPS, MOST_ON_TWIN = 200_000, 1_000_000, 1_650_000
"""Of one training: fewer cannot change a program for the better, and more hardly do."""
WITHIN_RUN, AFTERWARDS, ON_TWIN, FACTOR = 0.03, 0.05, 0.003, 1.5
"""The weight of the entropy over features when a program trains on, and its factor from one time to the next.

On a twin, a search lets numbers go, and training is for the score.
"""
LITTLE_LOST, MORE_LOST = 0.01, 0.05
"""Part of the score that a program with fewer numbers may lose, and where more training is to come."""


def continue_from(task: Task, program: Program, total_timesteps: int, seed: int) -> Program:
    """Train the numbers of a program on; conditions go on reading the features they read."""
    return Retrainer(task, seed).train(program, total_timesteps)[0]


def retrainer(task: Task, program: Program) -> Tune | None:
    """What trains a program on, if it is a chain with plain actions."""
    if not isinstance(task.signature.actions, Discrete) or not is_chain(program.root):
        return None
    if task.twin:
        return Retrainer(task, feature_entropy=ON_TWIN, bold=True).tune
    return Retrainer(task, feature_entropy=AFTERWARDS, lost=MORE_LOST).tune


class Retrainer:
    """Trains programs of one task on, the deepest first; its critic learns along from one to the next."""

    def __init__(
        self, task: Task, seed: int = 0, feature_entropy: float = 0.0, lost: float = 0.0, bold: bool = False
    ) -> None:
        """The entropy over features lets numbers go while the rest learns to do without them.

        For fewer numbers, this part of the score may be lost.
        """
        self.task, self.seed, self.feature_entropy, self.lost, self.bold = task, seed, feature_entropy, lost, bold
        self.max_depth = 0
        self.agent: Agent | None = None

    def tune(self, trials: Trials, program: Program, steps: float) -> Program:
        """The program trained on, if the steps are enough and that made it better, or smaller and not much worse."""
        if steps < FEWEST_STEPS or not program.conditions or self.solves(trials, program):
            return program
        steps = min(steps, MOST_ON_TWIN if self.task.twin else MOST_STEPS)
        trained, taken = self.train(program, round(0.9 * steps))
        trials.count(taken, typical=self.task.twin is None)  # programs play far faster than they train there
        trained = merged(without_new_constants(trained, program))
        episodes = int(np.clip(0.05 * steps / trials.length, FEW_EPISODES, MANY_EPISODES))
        lost = self.lost if trained.coefficients < program.coefficients else 0.0
        return trained if keeps_up(trials, trained, program, lost, episodes) else program

    def solves(self, trials: Trials, program: Program) -> bool:
        """Whether no episode could have gone better."""
        best = self.task.solved_return
        return best is not None and bool(trials.play([program], FEW_EPISODES).min() >= best)

    def train(self, program: Program, total_timesteps: int) -> tuple[Program, int]:
        """The program with other numbers, and the environment steps that took."""
        self.max_depth = max(self.max_depth, program.depth)
        sizes = {"total_timesteps": total_timesteps, "max_depth": self.max_depth}
        values = (BOLD if self.bold else GENTLE) | sizes | {"feature_entropy": self.feature_entropy}
        settings = settings_for("diprl", "default", self.task, **values)
        self.agent = self.agent or tree_agent(self.task, settings, key=jr.key(self.seed))
        session = Session(RunSpec(self.task.name, "diprl", settings, self.seed), self.task)
        views = visited_views(self.task, program)
        trained = trained_on(Trainer(session), settings, self.agent, program, views)
        self.agent, self.seed, self.feature_entropy = trained.agent, self.seed + 1, FACTOR * self.feature_entropy
        return read_off(self.task, trained.agent, trained.temperatures), trained.steps


def thinned(trainer: Trainer, trained: Trained, program: Program, total_timesteps: int) -> Program:
    """The program of a run, trained on within the run while numbers go; as it is where that costs too much."""
    session = trainer.session
    fewest = max(FEWEST_STEPS, 20 * FEW_EPISODES * session.task.horizon)
    if total_timesteps < fewest or not isinstance(session.task.signature.actions, Discrete):
        return program
    views = visited_views(session.task, program)
    values = GENTLE | {"total_timesteps": round(0.9 * total_timesteps), "feature_entropy": WITHIN_RUN}
    after = trained_on(trainer, session.spec.settings.with_values(**values), trained.agent, program, views)
    trials = Trials(session.task, program, 0.1 * total_timesteps, interrupt=session.interrupt)
    thin = without_new_constants(read_off(session.task, after.agent, after.temperatures), program)
    taken = thin if keeps_up(trials, thin, program, LITTLE_LOST, MANY_EPISODES) else program
    trainer.count("search", trials.steps + len(views))
    return taken


def keeps_up(trials: Trials, smaller: Program, program: Program, lost: float, episodes: int) -> bool:
    """Whether a smaller program loses no more than a part of the score."""
    after, before = trials.play([smaller, program], episodes).mean(axis=1)
    return bool(after >= before - lost * abs(before))


def trained_on(
    trainer: Trainer, settings: Settings, agent: Agent, program: Program, views: NDArray[np.float32]
) -> Trained:
    """An agent that began as the program, with another one's critic; the views are what the program meets."""
    temperatures = schedule.temperatures(settings.numbers(), 0.0)
    start = embedded(trainer.session.task, program, settings.program.max_depth, agent, temperatures, views)
    reader = partial(read_off, trainer.session.task)
    return trainer.train(Stage("training-on", settings, shaped_agent, reader, start=start))


def without_new_constants(program: Program, before: Program) -> Program:
    """The program without the constants of conditions that had none before."""
    held = conditions(before.root)
    items = list(flatten(program.root))
    places = [place for place, item in enumerate(items) if isinstance(item, Condition)]
    for place, old in zip(places, held, strict=False):
        if old.bias == 0.0:
            items[place] = replace(items[place], bias=0.0)
    return program.with_root(assemble(items))


def shaped_agent(task: Task, settings: Settings, *, key: PRNGKeyArray) -> Agent:
    """An agent whose conditions never read what they do not read at the start."""
    agent = tree_agent(task, settings, key=key)
    return replace(agent, policy=replace(agent.policy, keeps_zeros=True))


def embedded(
    task: Task, program: Program, max_depth: int, agent: Agent, temperatures: Temperatures, seen: NDArray[np.float32]
) -> Agent:
    """The agent with the program as its policy, normalising by what the program meets."""
    views = jnp.asarray(seen[:, : task.layout.critic])
    normaliser = make_normaliser(task.layout.critic).update(views)
    tree = embed(program, max_depth, temperatures, normaliser)
    tree = with_larger_logits(of_unit_size(tree, np.asarray(normaliser(views))[:, : task.layout.features]))
    return replace(agent, policy=replace(tree, keeps_zeros=True), normaliser=normaliser)


def of_unit_size(tree: DerivationTree, seen: NDArray[np.float32]) -> DerivationTree:
    """The same decisions by conditions whose values are about one, so that one temperature suits them all."""
    values = seen @ np.asarray(tree.condition_weights).T + np.asarray(tree.condition_bias)
    size = np.maximum(np.sqrt(np.mean(values**2, axis=0)), 1e-6).astype(np.float32)
    weights, bias = tree.condition_weights / size[:, None], tree.condition_bias / size
    return replace(tree, condition_weights=weights, condition_bias=bias)


def with_larger_logits(tree: DerivationTree) -> DerivationTree:
    if not isinstance(tree.terminals, DiscreteTerminals):
        return tree
    return eqx.tree_at(lambda tree: tree.terminals.logits, tree, replace_fn=lambda logits: LOGIT_FACTOR * logits)

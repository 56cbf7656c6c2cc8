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
from diprl.train.sparsity import features_read

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
FEWEST_STEPS, MOST_STEPS, MOST_ON_TWIN = 200_000, 500_000, 1_650_000
"""Of one training: fewer cannot change a program for the better, and more hardly do."""
WITHIN_RUN, AFTERWARDS, ON_TWIN = 0.03, 0.1, 0.003
"""The weight of the entropy over features when a program trains on.

On a twin, a search lets numbers go, and training is for the score.
"""
STAYING = 0.85
"""Part of the features that conditions go on reading after a training that lets numbers go.

Where that loses too much, the next one lets half as many go. With no such limit, one program in two collapsed.
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
    return Retrainer(task, feature_entropy=AFTERWARDS, staying=STAYING, lost=MORE_LOST).tune


class Retrainer:
    """Trains programs of one task on, the deepest first; its critic learns along from one to the next."""

    def __init__(
        self,
        task: Task,
        seed: int = 0,
        *,
        feature_entropy: float = 0.0,
        staying: float = 0.0,
        lost: float = 0.0,
        bold: bool = False,
    ) -> None:
        """The entropy over features lets numbers go while the rest learns to do without them.

        A part of the features stays, and for fewer numbers this part of the best score may be lost.
        """
        self.task, self.seed, self.feature_entropy, self.lost, self.bold = task, seed, feature_entropy, lost, bold
        self.staying = staying
        self.max_depth, self.best = 0, -np.inf
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
        after, before = trials.play([trained, program], episodes).mean(axis=1)
        self.best = max(self.best, before)
        smaller = trained.coefficients < program.coefficients
        if after >= before or (smaller and keeps_up(after, self.best, self.lost)):
            return trained
        self.staying = (1.0 + self.staying) / 2 if self.staying else 0.0
        return program

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
        start = embedded(self.task, program, settings, self.agent, visited_views(self.task, program))
        if self.staying:
            settings = settings.with_values(enough_features=self.staying * float(features_read(start)))
        session = Session(RunSpec(self.task.name, "diprl", settings, self.seed), self.task)
        trained = trained_on(Trainer(session), settings, start)
        self.agent, self.seed = trained.agent, self.seed + 1
        return read_off(self.task, trained.agent, trained.temperatures), trained.steps


def thinned(trainer: Trainer, trained: Trained, program: Program, total_timesteps: int) -> Program:
    """The program of a run, trained on within the run while numbers go; as it is where that costs too much."""
    session = trainer.session
    fewest = max(FEWEST_STEPS, 20 * FEW_EPISODES * session.task.horizon)
    if total_timesteps < fewest or not isinstance(session.task.signature.actions, Discrete):
        return program
    views = visited_views(session.task, program)
    values = GENTLE | {"total_timesteps": round(0.9 * total_timesteps), "feature_entropy": WITHIN_RUN}
    settings = session.spec.settings.with_values(**values)
    start = embedded(session.task, program, settings, trained.agent, views)
    reached = trained_on(trainer, settings, start)
    trials = Trials(session.task, program, 0.1 * total_timesteps, interrupt=session.interrupt)
    thin = without_new_constants(read_off(session.task, reached.agent, reached.temperatures), program)
    after, before = trials.play([thin, program], MANY_EPISODES).mean(axis=1)
    taken = thin if keeps_up(after, before, LITTLE_LOST) else program
    trainer.count("search", trials.steps + len(views))
    return taken


def keeps_up(after: float, before: float, lost: float) -> bool:
    """Whether a mean return is lower by no more than a part of the score."""
    return bool(after >= before - lost * abs(before))


def trained_on(trainer: Trainer, settings: Settings, start: Agent) -> Trained:
    """An agent that began as a program."""
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


def embedded(task: Task, program: Program, settings: Settings, agent: Agent, seen: NDArray[np.float32]) -> Agent:
    """The agent with the program as its policy, normalising by what the program meets."""
    temperatures = schedule.temperatures(settings.numbers(), 0.0)
    views = jnp.asarray(seen[:, : task.layout.critic])
    normaliser = make_normaliser(task.layout.critic).update(views)
    tree = embed(program, settings.program.max_depth, temperatures, normaliser)
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

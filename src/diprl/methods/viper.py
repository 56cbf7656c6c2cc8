"""VIPER: imitate a neural oracle by a decision tree, on the states that the tree itself visits (Q-DAgger).

The height of the tree is `max_depth`; the other settings are those of PPO, which trains the oracle from the same seed.
The tree reads what the oracle reads. Where programs blend primitives the oracle moves actuators, so the tree does too,
and its program computes their values from the whole observation.
"""

from collections.abc import Callable
from contextlib import closing
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array
from numpy.typing import NDArray

from diprl.arena.episodes import TREES
from diprl.arena.reference import Act, play
from diprl.methods.agents import neural_agent
from diprl.methods.cart import Tree, grow_classifier, grow_regressor, scikit_learn_trees, to_program
from diprl.policy.mlp import MLPPolicy
from diprl.program.signature import Continuous, Discrete, Feature, Primitives, Signature
from diprl.runs.result import Result
from diprl.runs.session import Session
from diprl.runs.stage import Stage, Trained
from diprl.runs.trainer import Trainer, acting
from diprl.tasks.base import Environments, Task, Views

ROUNDS = 80
SAMPLES, IMITATION = 100_000, 0.05
"""Environment steps of all rounds together, though never more than this part of the budget."""
SELECTION = 0.15
"""Part of the budget for choosing among the trees; the oracle trains with the rest."""
SAMPLERS = 10
"""Environments stepped together; episodes go on from one round to the next."""


class Lesson(NamedTuple):
    """Visited states, what the oracle does in them, and how much that matters."""

    views: Views
    actions: NDArray[Any]
    weights: NDArray[np.floating[Any]]


def fit(session: Session) -> Result:
    """Train the oracle, imitate it in rounds, keep the best tree."""
    scikit_learn_trees()
    task, trainer, settings = session.task, Trainer(session), session.spec.settings
    budget = settings.ppo.total_timesteps
    samples = min(SAMPLES, int(IMITATION * budget))
    rounds = max(1, min(ROUNDS, samples // SAMPLERS))
    length = max(samples // (rounds * SAMPLERS), 1)
    training = settings.with_values(total_timesteps=max(1, int((1.0 - SELECTION) * budget) - samples))
    oracle = trainer.train(Stage("oracle", training, neural_agent, purpose="oracle"))
    trees = imitate(session, oracle, rounds, length)
    trainer.count("imitation", rounds * length * SAMPLERS)
    best, played = select(task, trees, budget - sum(trainer.steps.values()))
    trainer.count("selection", played)
    return trainer.finish(oracle, to_program(best, tree_signature(task), task.name))


def imitate(session: Session, oracle: Trained, rounds: int, length: int) -> list[Tree]:
    """A tree per round, grown on all states visited so far: in the first round by the oracle, then by the last tree."""
    from diprl.tasks.batches.choose import make_environments

    task, seed = session.task, session.spec.seed
    ask = choices_of(oracle) if isinstance(task.signature.actions, Discrete) else vectors_of(oracle)
    environments = make_environments(task, SAMPLERS, "sync" if task.twin else session.backend)
    act, lessons, trees = acting(task, oracle, None), [], []
    with closing(environments):
        view = environments.reset(seed)
        for _ in range(rounds):
            visited, view = roll_out(environments, view, act, length)
            lessons.append(ask(visited))
            trees.append(grow(lessons, session))
            act = trees[-1].act
    return trees


def choices_of(oracle: Trained) -> Callable[[Views], Lesson]:
    """Greedy actions, weighted by max log π − min log π: the oracle's stake in choosing well."""
    agent, policy = oracle.agent, oracle.agent.policy
    if not isinstance(policy, MLPPolicy):
        raise TypeError(f"expected a neural oracle, got {type(policy).__name__}")

    @jax.jit
    def logits_of(views: Array) -> Array:
        return jax.vmap(policy.network)(agent.normaliser(views[:, : agent.layout.critic]))

    def ask(views: Views) -> Lesson:
        logits = np.asarray(logits_of(views), np.float64)
        return Lesson(views, logits.argmax(axis=-1), np.ptp(logits, axis=-1))

    return ask


def vectors_of(oracle: Trained) -> Callable[[Views], Lesson]:
    """Mean action vectors, all equally important."""
    act = oracle.player.act(oracle.state, oracle.temperatures)
    return lambda views: Lesson(views, act(views), np.ones(len(views)))


def roll_out(environments: Environments, view: Views, act: Act, length: int) -> tuple[Views, Views]:
    """The states visited in so many steps of all environments, and those to go on from."""
    visited = []
    for _ in range(length):
        visited.append(view)
        view = environments.step(act(view)).view
    return np.concatenate(visited), view


def grow(lessons: list[Lesson], session: Session) -> Tree:
    task, spec = session.task, session.spec
    views, actions, weights = (np.concatenate(part) for part in zip(*lessons, strict=True))
    views, height = views[:, : task.layout.critic], spec.settings.program.max_depth
    if isinstance(task.signature.actions, Discrete):
        return grow_classifier(views, actions, weights, height, spec.seed)
    return grow_regressor(views, actions, height, spec.seed)


def select(task: Task, trees: list[Tree], most_steps: int) -> tuple[Tree, int]:
    """Keep the better half on fresh episodes until one is left or the steps are; also the steps that this took.

    Where there are not enough for all, the trees of the last rounds are compared.
    """
    steps, first = 0, TREES.seed
    while len(trees) > 1 and (episodes := (most_steps - steps) // task.horizon) > 1:
        trees = trees[-episodes:]
        each = min(-(-TREES.on_reference // len(trees)), episodes // len(trees))
        seeds = range(first, first + each)
        played = [play(task, lambda views, _, act=tree.act: act(views), seeds) for tree in trees]
        order = np.argsort([one.returns.mean() for one in played], stable=True)
        trees = [trees[index] for index in order[len(trees) // 2 :]]
        steps, first = steps + sum(one.steps for one in played), seeds.stop
    return trees[-1], steps


def tree_signature(task: Task) -> Signature:
    """What the tree's program reads and sets: the task's own names, then numbered ones for what only networks see."""
    features, actions, layout = task.signature.features, task.signature.actions, task.layout
    unnamed = tuple(Feature(f"observation_{index}") for index in range(layout.critic - layout.features))
    if isinstance(actions, Primitives):
        names = tuple(f"actuator_{index}" for index in range(layout.actuators))
        actions = Continuous(names, actions.low, actions.high)
    return Signature((*features, *unnamed), actions)

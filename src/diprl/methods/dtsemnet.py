"""DTSemNet: train a complete decision tree of linear tests by PPO; it is a program all along.

The height of the tree is `max_depth`. It reads the features that programs read and, where programs blend primitives,
each leaf holds a blend, so that it has the same means as a program has.
"""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import PRNGKeyArray

from diprl.errors import DiprlError
from diprl.extract import condition, feature_moments, terminal
from diprl.methods.agents import make_terminals, with_critic
from diprl.policy.agent import Agent
from diprl.policy.base import Temperatures
from diprl.policy.dtsemnet import ActionLeaves, DTSemNet, Leaves, make_dtsemnet
from diprl.policy.terminals import AffineTerminals, BlendTerminals, DiscreteTerminals, Terminals
from diprl.program import Program
from diprl.program.ast import If, Node
from diprl.program.signature import Discrete
from diprl.runs.result import Result
from diprl.runs.session import Session
from diprl.runs.stage import Stage
from diprl.runs.trainer import Trainer
from diprl.tasks.base import Task
from diprl.train.settings import Settings

HIGHEST = 12
"""A complete tree doubles with each level."""


def fit(session: Session) -> Result:
    """Train the tree and write it down."""
    trainer, reader = Trainer(session), partial(read_off, session.task)
    trained = trainer.train(Stage("training", session.spec.settings, dtsemnet_agent, reader))
    return trainer.finish(trained, reader(trained.agent, trained.temperatures))


def dtsemnet_agent(task: Task, settings: Settings, *, key: PRNGKeyArray) -> Agent:
    """An untrained tree over the task's features."""
    if settings.program.max_depth > HIGHEST:
        raise DiprlError(f"a complete tree of height {settings.program.max_depth} is too large: max_depth ≤ {HIGHEST}")
    tree_key, leaf_key, critic_key = jr.split(key, 3)
    leaves = make_leaves(task, settings, 2**settings.program.max_depth, key=leaf_key)
    tree = make_dtsemnet(task.layout.features, settings.program.max_depth, leaves, key=tree_key)
    return with_critic(tree, task.layout, settings, key=critic_key)


def make_leaves(task: Task, settings: Settings, count: int, *, key: PRNGKeyArray) -> Leaves:
    actions = task.signature.actions
    if isinstance(actions, Discrete):
        if count < len(actions.names):
            raise DiprlError(f"max_depth gives {count} leaves for {len(actions.names)} actions: raise it")
        return ActionLeaves(len(actions.names))
    terminals = make_terminals(task, settings, count, key=key)
    assert isinstance(terminals, BlendTerminals | AffineTerminals)  # what continuous actions are made of
    return replace(terminals, log_std=jnp.tile(terminals.log_std, (count, 1)))


def read_off(task: Task, agent: Agent, temperatures: Temperatures) -> Program:
    """The tree as nested conditions in raw units."""
    agent = jax.device_get(agent)
    tree = agent.policy
    if not isinstance(tree, DTSemNet):
        raise TypeError(f"expected a DTSemNet, got {type(tree).__name__}")
    mean, scale = feature_moments(agent)
    terminals = as_terminals(tree)

    def node(index: int) -> Node:
        if index >= tree.conditions:
            return terminal(terminals, index - tree.conditions, mean, scale, temperatures)
        return If(condition(tree, index, mean, scale), node(2 * index + 2), node(2 * index + 1))

    return Program(task.signature, node(0), task.name)


def as_terminals(tree: DTSemNet) -> Terminals:
    """The leaves in the form that extraction reads."""
    leaves = tree.leaves
    if not isinstance(leaves, ActionLeaves):
        return leaves
    labels = jnp.arange(tree.conditions + 1) % leaves.actions
    return DiscreteTerminals(jax.nn.one_hot(labels, leaves.actions))

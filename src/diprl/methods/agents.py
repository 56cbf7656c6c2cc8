"""The agents that methods train: a relaxed program or a network, each with the same critic."""

from dataclasses import replace
from math import log

import jax.numpy as jnp
import jax.random as jr
from jaxtyping import PRNGKeyArray

from diprl.policy.agent import Agent, make_normaliser
from diprl.policy.base import AbstractPolicy
from diprl.policy.derivation_tree import DerivationTree, make_tree
from diprl.policy.mlp import MLPPolicy, make_mlp
from diprl.policy.terminals import AffineTerminals, BlendTerminals, ChoiceTerminals, DiscreteTerminals, Terminals
from diprl.program.signature import Continuous, Discrete, action_range
from diprl.tasks.base import Task, ViewLayout
from diprl.train.settings import Settings


def tree_agent(task: Task, settings: Settings, *, key: PRNGKeyArray) -> Agent:
    """A relaxed program over the task's features."""
    tree_key, terminal_key, critic_key = jr.split(key, 3)
    depth = settings.program.max_depth
    over_primitives = ChoiceTerminals if settings.program.choose_primitives else BlendTerminals
    terminals = make_terminals(task, settings, 2 * depth - 1, over_primitives, key=terminal_key)
    tree = make_tree(task.layout.features, depth, terminals, settings.program.leaf_balance, key=tree_key)
    tree = replace(tree, mixes_logits=settings.program.mix_logits)
    if settings.program.feature_entropy or task.forbidden:
        tree = keeping_zeros(tree, task.forbidden)
    return with_critic(tree, task.layout, settings, key=critic_key)


def keeping_zeros(tree: DerivationTree, forbidden: tuple[int, ...] = ()) -> DerivationTree:
    """The tree without weights for the forbidden features, in which a weight that is zero stays zero."""
    columns = list(forbidden)
    if isinstance(tree.terminals, AffineTerminals):
        weights = tree.terminals.weights.at[..., columns].set(0.0)
        tree = replace(tree, terminals=replace(tree.terminals, weights=weights, keeps_zeros=True))
    weights = tree.condition_weights.at[..., columns].set(0.0)
    return replace(tree, condition_weights=weights, keeps_zeros=True)


def make_terminals(
    task: Task,
    settings: Settings,
    count: int,
    over_primitives: type[BlendTerminals | ChoiceTerminals] = BlendTerminals,
    *,
    key: PRNGKeyArray,
) -> Terminals:
    actions, log_std, program = task.signature.actions, log(settings.ppo.deviation), settings.program
    if isinstance(actions, Continuous):
        centre, scale = action_range(actions)
        outputs = len(scale)
        weights = program.terminal_spread * jr.normal(key, (count, outputs, task.layout.features))
        alone = program.feature_entropy or program.mix_logits  # what one leaf loses would come back from the others
        difference = 1.0 if alone else program.leaf_difference
        bias, deviations = jnp.zeros((count, outputs)), jnp.full(outputs, log_std)
        return AffineTerminals(weights, bias, deviations, centre, scale, difference=difference)
    logits = program.terminal_spread * jr.normal(key, (count, len(actions.names)))
    if isinstance(actions, Discrete):
        return DiscreteTerminals(logits)
    return over_primitives(logits, jnp.full(len(actions.low), log_std))


def neural_agent(task: Task, settings: Settings, *, key: PRNGKeyArray) -> Agent:
    """A network that sees whatever the critic sees."""
    policy_key, critic_key = jr.split(key)
    layout = replace(task.layout, features=task.layout.critic)
    actions = task.signature.actions
    centre, scale = ((), ()) if isinstance(actions, Discrete) else action_range(actions)
    outputs = len(scale) or len(actions.names)
    sizes = (layout.features, settings.ppo.hidden_size, settings.ppo.hidden_size, outputs)
    network = make_mlp(sizes, 0.01, key=policy_key)
    log_std = jnp.full(len(scale), log(settings.ppo.deviation))
    policy = MLPPolicy(jnp.zeros((0, 2)), network, log_std, centre, scale)
    return with_critic(policy, layout, settings, key=critic_key)


def with_critic(policy: AbstractPolicy, layout: ViewLayout, settings: Settings, *, key: PRNGKeyArray) -> Agent:
    sizes = (layout.critic, settings.ppo.hidden_size, settings.ppo.hidden_size, 1)
    critic = make_mlp(sizes, 0.0 if settings.ppo.quiet else 1.0, key=key)
    return Agent(policy, critic, make_normaliser(layout.critic), layout)

"""The door between learning and programs: a relaxed tree becomes a program, and a program becomes a tree again."""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.policy.agent import Agent, Normaliser, make_normaliser
from diprl.policy.base import Temperatures
from diprl.policy.derivation_tree import DerivationTree
from diprl.policy.dtsemnet import DTSemNet
from diprl.policy.terminals import AffineTerminals, BlendTerminals, ChoiceTerminals, DiscreteTerminals, Terminals
from diprl.program import Program, ast
from diprl.program.ast import Act, Affine, Blend, Condition, If, Node, Terminal
from diprl.program.signature import Continuous, Discrete, Signature, action_range
from diprl.tasks.base import Task

ONE_PRIMITIVE = 0.99
"""A blend that gives one primitive more than this becomes that primitive."""
NEGLIGIBLE = 1e-3
"""A primitive with a smaller share is left out of a blend."""
DECIDED = 20.0
"""Logit that makes an embedded choice certain."""


def read_off(task: Task, agent: Agent, temperatures: Temperatures) -> Program:
    """The program that a relaxed one has become."""
    return extract(agent, task.signature, temperatures, task=task.name)


def extract(
    agent: Agent, signature: Signature, temperatures: Temperatures, *, depth: int | None = None, task: str = ""
) -> Program:
    """The discrete program: the likeliest depth, hard conditions, the likeliest action of each terminal, raw units."""
    agent = jax.device_get(agent)
    tree = agent.policy
    if not isinstance(tree, DerivationTree):
        raise DiprlError(f"a {type(tree).__name__} is not a program: only a derivation tree can be extracted")
    chosen = likeliest_depth(tree, float(temperatures.architecture)) if depth is None else depth
    if not 1 <= chosen <= tree.max_depth:
        raise DiprlError(f"depth {chosen} is not between 1 and {tree.max_depth}")
    mean, scale = feature_moments(agent)
    node: Node = terminal(tree.terminals, tree.max_depth - 1 + chosen - 1, mean, scale, temperatures)
    for level in reversed(range(chosen - 1)):
        then = terminal(tree.terminals, level, mean, scale, temperatures)
        node = If(condition(tree, level, mean, scale), then, node)
    return Program(signature, node, task)


def likeliest_depth(tree: DerivationTree, temperature: float = 1.0) -> int:
    """The depth that hardening keeps; while the choices are still open it may depend on their temperature."""
    return int(np.argmax(depth_probabilities(tree, temperature))) + 1


@jax.jit
def depth_probabilities(tree: DerivationTree, temperature: jax.Array | float = 1.0) -> jax.Array:
    return tree.depth_probabilities(temperature)


def feature_moments(agent: Agent) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and scale by which the features were normalised."""
    features = agent.layout.features
    mean, scale = (np.asarray(moment, np.float64)[:features] for moment in moments(agent.normaliser))
    return mean, scale


@jax.jit
def moments(normaliser: Normaliser) -> tuple[jax.Array, jax.Array]:
    return normaliser.mean, normaliser.scale


def condition(tree: DerivationTree | DTSemNet, level: int, mean: NDArray, scale: NDArray) -> Condition:
    """w · (f − μ)/σ + b > 0 in raw units."""
    weights = np.asarray(tree.condition_weights[level], np.float64) / scale
    bias = float(tree.condition_bias[level]) - float(weights @ mean)
    return Condition(tuple(weights.tolist()), bias)


def terminal(terminals: Terminals, index: int, mean: NDArray, scale: NDArray, temperatures: Temperatures) -> Terminal:
    if isinstance(terminals, DiscreteTerminals):
        return Act(int(np.argmax(terminals.logits[index])))
    if isinstance(terminals, BlendTerminals):
        return blend(np.asarray(terminals.logits[index], np.float64) / float(temperatures.terminal))
    if isinstance(terminals, ChoiceTerminals):
        return Blend(tuple(np.eye(terminals.logits.shape[1])[np.argmax(terminals.logits[index])].tolist()))
    reach = np.asarray(terminals.scale)
    slopes, offset = (terminals.closer(numbers)[index] for numbers in (terminals.weights, terminals.bias))
    weights = reach[:, None] * np.asarray(slopes, np.float64) / scale
    bias = np.asarray(terminals.centre) + reach * np.asarray(offset, np.float64) - weights @ mean
    return Affine(tuple(map(tuple, weights.tolist())), tuple(bias.tolist()))


def blend(logits: NDArray[np.float64]) -> Blend:
    weights = np.exp(logits - logits.max())
    weights /= weights.sum()
    if weights.max() > ONE_PRIMITIVE:
        weights = (weights == weights.max()).astype(float)
    weights = np.where(weights < NEGLIGIBLE, 0.0, weights)
    weights /= weights.sum()
    return Blend(tuple(weights.tolist()))


def chain(program: Program) -> tuple[list[Condition], list[Terminal]]:
    """Conditions and terminals of an if/elif/else chain, the only shape the learner's grammar has."""
    if not ast.is_chain(program.root):
        raise DiprlError("only an if/elif/else chain can be trained on: this program nests an if inside a branch")
    return ast.conditions(program.root), ast.terminals(program.root)


def embed(
    program: Program, max_depth: int, temperatures: Temperatures, normaliser: Normaliser | None = None
) -> DerivationTree:
    """A tree whose extraction is this program, to keep training an edited one.

    Levels beyond the program's depth repeat its last action, so that training may grow into them.
    """
    conditions, leaves = chain(program)
    depth = len(leaves)
    max_depth = max(max_depth, depth)
    features = len(program.signature.features)
    normaliser = normaliser or make_normaliser(features)
    mean = np.asarray(normaliser.mean, np.float64)[:features]
    scale = np.asarray(normaliser.scale, np.float64)[:features]
    weights, bias = np.zeros((max_depth - 1, features)), np.zeros(max_depth - 1)
    for level, held in enumerate(conditions):
        weights[level] = np.asarray(held.weights) * scale
        bias[level] = held.bias + np.asarray(held.weights) @ mean
    then = [*leaves[:-1], *[leaves[-1]] * (max_depth - depth)]
    return DerivationTree(
        architecture=decided(depth, max_depth),
        condition_weights=jnp.asarray(weights, jnp.float32),
        condition_bias=jnp.asarray(bias, jnp.float32),
        terminals=embed_terminals(program.signature, [*then, *[leaves[-1]] * max_depth], mean, scale, temperatures),
    )


def decided(depth: int, max_depth: int) -> jax.Array:
    """Logits of an architecture that is certain of its depth."""
    choice = np.zeros((max_depth - 1, 2), np.float32)
    choice[: depth - 1, 1] = DECIDED
    choice[depth - 1 :, 0] = DECIDED
    return jnp.asarray(choice)


def embed_terminals(
    signature: Signature, leaves: list[Terminal], mean: NDArray, scale: NDArray, temperatures: Temperatures
) -> Terminals:
    actions = signature.actions
    sharp = float(temperatures.terminal)
    if isinstance(actions, Discrete):
        chosen = [leaf.action for leaf in leaves if isinstance(leaf, Act)]
        return DiscreteTerminals(jnp.asarray(np.eye(len(actions.names))[chosen], jnp.float32))
    if not isinstance(actions, Continuous):
        shares = np.array([leaf.weights for leaf in leaves if isinstance(leaf, Blend)])
        logits = sharp * np.log(np.maximum(shares, 1e-6))
        return BlendTerminals(jnp.asarray(logits, jnp.float32), jnp.full(len(actions.low), -1.0))
    centre, reach = action_range(actions)
    weights = np.array([leaf.weights for leaf in leaves if isinstance(leaf, Affine)])
    bias = np.array([leaf.bias for leaf in leaves if isinstance(leaf, Affine)])
    offset = (bias + weights @ mean - np.asarray(centre)) / np.asarray(reach)
    slopes = weights * scale / np.asarray(reach)[:, None]
    slopes, offset = (jnp.asarray(numbers, jnp.float32) for numbers in (slopes, offset))
    return AffineTerminals(slopes, offset, jnp.full(len(reach), -1.0), centre, reach)

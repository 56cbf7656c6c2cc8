"""Random relaxed programs of every kind, and views to run them on."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from numpy.typing import NDArray

from diprl.policy.agent import Agent, Normaliser
from diprl.policy.base import HARD, Temperatures
from diprl.policy.derivation_tree import DerivationTree
from diprl.policy.mlp import MLP
from diprl.policy.terminals import AffineTerminals, BlendTerminals, ChoiceTerminals, DiscreteTerminals, Terminals
from diprl.program.signature import Actions, Continuous, Discrete, Feature, Primitives, Signature
from diprl.tasks.base import ViewLayout

FEATURES = 3
KINDS = ("discrete", "affine", "blend", "choice")
WARM = Temperatures(architecture=0.7, condition=0.5, terminal=0.25)
LAYOUTS = {
    "discrete": ViewLayout(FEATURES, FEATURES + 1),
    "affine": ViewLayout(FEATURES, FEATURES + 1),
    "blend": ViewLayout(FEATURES, FEATURES + 1, primitives=3, actuators=2),
    "choice": ViewLayout(FEATURES, FEATURES + 1, primitives=3, actuators=2),
}
"""The critic sees one number more than the conditions read."""
ACTIONS: dict[str, Actions] = {
    "discrete": Discrete(("left", "stay", "right", "jump")),
    "affine": Continuous(("push", "turn"), (-2.0, 0.0), (3.0, 1.0)),
    "blend": Primitives(("walk", "run", "rest"), (-0.5, -1.0), (0.5, 2.0)),
    "choice": Primitives(("walk", "run", "rest"), (-0.5, -1.0), (0.5, 2.0)),
}


def signature(kind: str) -> Signature:
    names = ("position", "speed", "angle")
    return Signature(tuple(Feature(name) for name in names), ACTIONS[kind])


def numbers(generator: np.random.Generator, *shape: int) -> Array:
    return jnp.asarray(generator.normal(size=shape), jnp.float32)


def random_terminals(kind: str, count: int, generator: np.random.Generator) -> Terminals:
    if kind == "discrete":
        return DiscreteTerminals(numbers(generator, count, 4))
    if kind == "blend":
        return BlendTerminals(numbers(generator, count, 3), jnp.asarray([-0.3, -1.0]))
    if kind == "choice":
        return ChoiceTerminals(numbers(generator, count, 3), jnp.asarray([-0.3, -1.0]))
    weights, bias = numbers(generator, count, 2, FEATURES), numbers(generator, count, 2)
    return AffineTerminals(weights, bias, jnp.asarray([-0.3, -1.0]), (0.5, 0.5), (2.5, 0.5))


def random_tree(kind: str, depth: int, seed: int) -> DerivationTree:
    """A tree whose every number is random, the shape's logits included."""
    generator = np.random.default_rng(seed)
    return DerivationTree(
        architecture=numbers(generator, depth - 1, 2),
        condition_weights=numbers(generator, depth - 1, FEATURES),
        condition_bias=numbers(generator, depth - 1),
        terminals=random_terminals(kind, 2 * depth - 1, generator),
    )


def random_agent(kind: str, depth: int, seed: int) -> Agent:
    """Such a tree with a critic and with statistics of some views, as after a while of training."""
    generator, critic = np.random.default_rng(seed + 1), LAYOUTS[kind].critic
    moments = Normaliser(
        mean=numbers(generator, critic),
        square_deviation=jnp.asarray(100.0 * np.linspace(0.01, 9.0, critic), jnp.float32),
        low=jnp.asarray(np.full(critic, -1.0), jnp.float32),
        high=jnp.asarray(np.full(critic, 1.0), jnp.float32),
        count=jnp.asarray(np.float32(100.0)),
    )
    network = MLP(
        (numbers(generator, critic, 4), numbers(generator, 4, 1)), (numbers(generator, 4), numbers(generator, 1))
    )
    return Agent(random_tree(kind, depth, seed), network, moments, LAYOUTS[kind])


def random_views(kind: str, count: int, seed: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(1.0, 4.0, (count, LAYOUTS[kind].size)).astype(np.float32)


def hard_actions(agent: Agent, views: NDArray[np.float32], temperatures: Temperatures) -> NDArray:
    """What the fully hardened agent does."""
    noise = jnp.full((len(views), agent.policy.noise_size), 0.5)
    act = jax.jit(jax.vmap(lambda view, uniform: agent.act(view, uniform, temperatures, HARD)))
    return np.asarray(act(views, noise))

"""Scores of an agent in training, at each stage of hardening: on the twin where there is one, else on the reference."""

from functools import partial

import jax
import jax.random as jr
import numpy as np
from jaxtyping import Array, PRNGKeyArray
from numpy.typing import NDArray

from diprl.policy.agent import Normaliser
from diprl.policy.base import Hardness, Temperatures
from diprl.train.engine import Engine, TrainState
from diprl.train.evaluate import evaluate
from diprl.train.parameters import Vector
from diprl.train.score import Score, score_of

VALIDATION_SEED = 500_000
"""First seed of validation episodes: never those that train, never those that are reported."""
BLOCK = 128
"""Episodes that a twin plays together: one compilation serves any number of them."""


class Validator:
    """Plays episodes with the agent as it is, or hardened in part or whole."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.compiled_returns = jax.jit(self.returns_on_twin, static_argnums=4)
        self.compiled_act = jax.jit(self.act)

    def returns(
        self, state: TrainState, temperatures: Temperatures, hardness: Hardness, episodes: int, seed: int = 0
    ) -> NDArray[np.float64]:
        """Returns of fresh episodes; the same seed gives the same starts to every stage."""
        return np.asarray(self.score(state, temperatures, hardness, episodes, seed).returns)

    def score(
        self, state: TrainState, temperatures: Temperatures, hardness: Hardness, episodes: int, seed: int = 0
    ) -> Score:
        """The same with what the reference environment reports at the end of episodes."""
        if self.engine.twin is not None:
            policy = (state.vector, state.normaliser, temperatures, hardness)
            first, count = VALIDATION_SEED + 10_000 * seed, -(-episodes // BLOCK)
            blocks = [self.compiled_returns(*policy, BLOCK, jr.key(first + block)) for block in range(count)]
            return score_of(np.concatenate(blocks)[:episodes].astype(np.float64))
        generator = np.random.default_rng(seed)
        size = self.engine.noise_size

        def act(views: NDArray[np.float32]) -> NDArray:
            noise = generator.random((len(views), size), dtype=np.float32)
            padded = partial(pad_rows, rows=32)
            action = self.compiled_act(
                state.vector, state.normaliser, temperatures, hardness, padded(views), padded(noise)
            )
            return np.asarray(action)[: len(views)]

        return evaluate(self.engine.task, act, episodes, VALIDATION_SEED + 10_000 * seed)

    def returns_on_twin(
        self,
        vector: Vector,
        normaliser: Normaliser,
        temperatures: Temperatures,
        hardness: Hardness,
        episodes: int,
        key: PRNGKeyArray,
    ) -> Array:
        from diprl.train.simulate import episode_returns

        if self.engine.twin is None:
            raise ValueError(f"{self.engine.task.name} has no twin to play on")
        agent = self.engine.blueprint.build(vector, normaliser)

        def act(view: Array, noise: Array) -> Array:
            return agent.act(view, noise, temperatures, hardness)

        return episode_returns(self.engine.twin, act, self.engine.noise_size, episodes, key=key)

    def act(
        self,
        vector: Vector,
        normaliser: Normaliser,
        temperatures: Temperatures,
        hardness: Hardness,
        views: Array,
        noise: Array,
    ) -> Array:
        agent = self.engine.blueprint.build(vector, normaliser)
        return jax.vmap(lambda view, uniform: agent.act(view, uniform, temperatures, hardness))(views, noise)


def pad_rows(rows_of: NDArray, rows: int) -> NDArray:
    """The batch filled up to a fixed number of rows, so that one compilation serves all."""
    return np.concatenate([rows_of, np.zeros((rows - len(rows_of), *rows_of.shape[1:]), rows_of.dtype)])

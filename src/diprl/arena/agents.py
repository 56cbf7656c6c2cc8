"""Agents in the arena, at any hardness between relaxed and discrete."""

from functools import lru_cache
from typing import NamedTuple

import jax
import jax.random as jr
import numpy as np
from jaxtyping import Array, PRNGKeyArray
from numpy.typing import NDArray

from diprl.arena.episodes import REPORTS
from diprl.arena.reference import Act, evaluate
from diprl.arena.score import TWIN, Score, score_of
from diprl.arena.twin import episode_returns
from diprl.policy.agent import Normaliser
from diprl.policy.base import HARD, Hardness, Temperatures
from diprl.program.signature import Discrete
from diprl.train.engine import Engine, TrainState
from diprl.train.parameters import Vector

BLOCK = 128
"""Episodes that a twin plays together: one compilation serves any number of them."""
FEWEST_ROWS = 32
"""Batches are filled up to this size or the next power of two, so that a few compilations serve all."""


class Player(NamedTuple):
    """An agent's numbers, and how soft it acts."""

    vector: Vector
    normaliser: Normaliser
    temperatures: Temperatures
    hardness: Hardness


class AgentPlayer:
    """Plays episodes with the agent that a training state holds."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.compiled_returns = jax.jit(self.returns_on_twin, static_argnums=1)
        self.compiled_actions = jax.jit(self.actions)

    def score(self, state: TrainState, temperatures: Temperatures, hardness: Hardness, episodes: int) -> Score:
        """The score on validation episodes, on the twin where there is one, with the same starts each time."""
        if self.engine.twin is None:
            return evaluate(self.engine.task, self.act(state, temperatures, hardness), episodes, REPORTS.seed)
        player = Player(state.vector, state.normaliser, temperatures, hardness)
        blocks = range(-(-episodes // BLOCK))
        returns = [self.compiled_returns(player, BLOCK, jr.key(REPORTS.seed + block)) for block in blocks]
        return score_of(np.concatenate(returns)[:episodes].astype(np.float64), environment=TWIN)

    def act(self, state: TrainState, temperatures: Temperatures, hardness: Hardness = HARD) -> Act:
        """Actions for views, within the bounds; a soft agent draws the same noise each time."""
        generator, limits = np.random.default_rng(0), self.engine.task.signature.actions
        player = Player(state.vector, state.normaliser, temperatures, hardness)

        def act(views: NDArray[np.float32]) -> NDArray:
            noise = generator.random((len(views), self.engine.noise_size), dtype=np.float32)
            rows = max(FEWEST_ROWS, 1 << (len(views) - 1).bit_length())
            filled = (np.pad(part, ((0, rows - len(part)), (0, 0))) for part in (views, noise))
            chosen = np.asarray(self.compiled_actions(player, *filled))[: len(views)]
            return chosen if isinstance(limits, Discrete) else np.clip(chosen, limits.low, limits.high)

        return act

    def returns_on_twin(self, player: Player, episodes: int, key: PRNGKeyArray) -> Array:
        assert self.engine.twin is not None  # others play on the reference
        agent = self.engine.blueprint.build(player.vector, player.normaliser)

        def act(view: Array, noise: Array) -> Array:
            return agent.act(view, noise, player.temperatures, player.hardness)

        return episode_returns(self.engine.twin, act, self.engine.noise_size, episodes, key=key)

    def actions(self, player: Player, views: Array, noise: Array) -> Array:
        agent = self.engine.blueprint.build(player.vector, player.normaliser)
        return jax.vmap(agent.act, in_axes=(0, 0, None, None))(views, noise, player.temperatures, player.hardness)


player_for = lru_cache(maxsize=16)(AgentPlayer)
"""One player, and so one compilation, for all states of an engine."""

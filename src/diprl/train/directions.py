"""Learning without gradients: all numbers of a program are moved along random directions and back, on its true return.

After Mania, Guy and Recht, "Simple random search of static linear policies is competitive for reinforcement learning"
(2018), with normalised features and only the better directions. Each environment plays whole episodes with a changed
program of its own, so that none waits for another.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import NDArray

from diprl.policy.agent import Normaliser
from diprl.policy.base import HARD
from diprl.tasks.base import Environments
from diprl.train import schedule
from diprl.train.collectors import HostCollector
from diprl.train.compiling import compiled
from diprl.train.engine import Engine, Metrics, TrainState
from diprl.train.settings import Settings
from diprl.train.trajectory import Episodes, episode_metrics

UNMEASURED = ("value_loss", "approx_kl", "advantage_range", "architecture_entropy", "alpha")
"""What gradients would tell of themselves."""
Pair = tuple[float, float, NDArray[np.float32]]
"""The returns with a direction added and taken away, and the direction."""


class DirectionsCollector(HostCollector):
    """Environments stepped by the host, each with numbers of its own around those of the program."""

    def __init__(self, engine: Engine, settings: Settings, environments: Environments, seed: int) -> None:
        super().__init__(engine, settings, environments, seed)
        self.part = slice(*engine.blueprint.ends[:2])
        """Where the program's numbers stand in the vector."""
        self.act = compiled(jax.vmap(self.act_once, in_axes=(0, 0, None)))

    def act_once(self, vector: Float[Array, " numbers"], view: Float[Array, " view"], normaliser: Normaliser) -> Array:
        """What the discrete program with these numbers does."""
        noise, temperatures = jnp.zeros(self.engine.noise_size), schedule.temperatures(self.numbers, 1.0)
        return self.engine.blueprint.build(vector, normaliser).act(view, noise, temperatures, HARD)

    def advance(self, state: TrainState) -> tuple[TrainState, Metrics]:
        rollout, ppo = int(state.rollout), self.numbers.ppo
        rate = schedule.linear(ppo.learning_rate, ppo.learning_rate_end, rollout / self.rollouts)
        if self.view is None:
            self.begin(np.array(state.vector), rollout)
        views, ended = [], np.zeros(3)
        for _ in range(self.settings.ppo.num_steps):
            views.append(self.view)
            step = self.environments.step(np.asarray(self.act(self.vectors, self.view, state.normaliser)))
            done, totals = step.terminated | step.truncated, self.returns + step.reward
            ended += self.tally(step.reward, done)
            for place in np.flatnonzero(done).tolist():
                self.judge(place, float(totals[place]), float(rate))
            self.view = step.view
        seen = jnp.asarray(np.concatenate(views)[:, : state.normaliser.mean.shape[0]])
        metrics = episode_metrics(Episodes(*jnp.asarray(ended, jnp.float32)))
        normaliser = state.normaliser.update(seen)
        state = state._replace(vector=jnp.asarray(self.centre), normaliser=normaliser, rollout=state.rollout + 1)
        unmeasured = {f"train/{name}": jnp.zeros(()) for name in UNMEASURED}
        return state, metrics | {"train/learning_rate": rate} | unmeasured

    def begin(self, centre: NDArray[np.float32], rollout: int) -> None:
        """New episodes and new directions in all environments; all that matters of those before is the centre."""
        self.view = self.environments.reset(self.seed + 7919 * rollout)
        self.generator, self.centre = np.random.default_rng([self.seed, rollout]), centre
        self.vectors = np.tile(centre, (self.environments.num_envs, 1))
        self.tries: list[tuple[int, float]] = [(0, 1.0)] * self.environments.num_envs
        """What each environment plays: which direction, and whether it is added or taken away."""
        self.waiting: list[tuple[int, float]] = []
        self.moves: list[NDArray[np.float32]] = []
        self.outcomes: dict[int, dict[float, float]] = {}
        self.complete: list[Pair] = []
        for place in range(self.environments.num_envs):
            self.start(place)

    def start(self, place: int) -> None:
        """Give an environment the next try: the last direction the other way round, or a new one."""
        if not self.waiting:
            self.waiting = [(len(self.moves), 1.0), (len(self.moves), -1.0)]
            self.moves.append(self.generator.standard_normal(self.part.stop - self.part.start).astype(np.float32))
        self.tries[place] = pair, sign = self.waiting.pop(0)
        change = sign * self.settings.ppo.deviation * self.moves[pair]
        self.vectors[place, self.part] = self.centre[self.part] + change

    def judge(self, place: int, total: float, rate: float) -> None:
        """Take note of an episode; it may complete a pair, and the pair a step of all numbers."""
        pair, sign = self.tries[place]
        outcome = self.outcomes.setdefault(pair, {})
        outcome[sign] = total
        if len(outcome) == 2:
            self.complete.append((outcome[1.0], outcome[-1.0], self.moves[pair]))
            del self.outcomes[pair]
        if len(self.complete) == self.settings.program.directions:
            self.centre[self.part] += rate * combined(self.complete)
            self.complete = []
        self.start(place)


def combined(complete: list[Pair]) -> NDArray[np.float32]:
    """The sum of the better half of the directions, each as far as it was better than its opposite."""
    order = sorted(complete, key=lambda pair: -max(pair[:2]))[: max(1, len(complete) // 2)]
    spread = float(np.std([value for pair in order for value in pair[:2]]))
    moves = [(ahead - back) * move for ahead, back, move in order]
    return (np.sum(moves, axis=0) / (len(order) * max(spread, 1e-8))).astype(np.float32)

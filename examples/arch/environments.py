"""Environments for `diprl train` of the four plants beside this file: Tora, SinglePendulum, CruiseControl, Unicycle.

The equations are those of the plant files, in plain Python; a test compares the two. Rewards are our own.
"""

from math import cos, log1p, sin
from typing import Any, ClassVar

import gymnasium
import numpy as np

STEPS = 10
"""Runge-Kutta steps in one sample."""


class Plant(gymnasium.Env[Any, Any]):
    """States that follow differential equations, and one action for each sample."""

    start: ClassVar[list[tuple[float, float]]]
    limits: ClassVar[list[tuple[float, float]]]
    features: ClassVar[int]
    sample: ClassVar[float]
    samples: ClassVar[int]

    def __init__(self) -> None:
        low, high = np.array(self.limits, np.float64).T
        self.action_space: Any = gymnasium.spaces.Box(low, high, dtype=np.float64)
        self.observation_space: Any = gymnasium.spaces.Box(-np.inf, np.inf, (self.features,), np.float64)
        self.state, self.taken = [low for low, _ in self.start], 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.state, self.taken = [float(self.np_random.uniform(*side)) for side in self.start], 0
        return np.array(self.seen(self.state)), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        action = np.clip(action, self.action_space.low, self.action_space.high).tolist()
        for _ in range(STEPS):
            self.state = self.moved(self.state, action, self.sample / STEPS)
        self.taken += 1
        return np.array(self.seen(self.state)), self.reward(self.state), False, self.taken >= self.samples, {}

    def moved(self, state: list[float], action: list[float], time: float) -> list[float]:
        """One step of Runge and Kutta's method."""

        def after(rates: list[float], share: float) -> list[float]:
            return [value + share * time * rate for value, rate in zip(state, rates, strict=True)]

        first = self.rates(state, action)
        second = self.rates(after(first, 0.5), action)
        third = self.rates(after(second, 0.5), action)
        fourth = self.rates(after(third, 1.0), action)
        return after(
            [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(first, second, third, fourth, strict=True)], 1.0
        )

    def rates(self, state: list[float], action: list[float]) -> list[float]:
        raise NotImplementedError

    def seen(self, state: list[float]) -> list[float]:
        return state

    def reward(self, state: list[float]) -> float:
        raise NotImplementedError


class Tora(Plant):
    """A cart on a spring, stabilised by turning a weight."""

    start: ClassVar = [(0.6, 0.7), (-0.7, -0.6), (-0.4, -0.3), (0.5, 0.6)]
    limits: ClassVar = [(-3.0, 3.0)]
    features, sample, samples = 4, 1.0, 20

    def rates(self, state: list[float], action: list[float]) -> list[float]:
        x1, x2, x3, x4 = state
        return [x2, -x1 + 0.1 * sin(x3), x4, action[0]]

    def reward(self, state: list[float]) -> float:
        return -log1p(sum(value**2 for value in state))


class SinglePendulum(Plant):
    """A pendulum that is pushed to an angle between 0 and 1."""

    start: ClassVar = [(1.0, 1.175), (0.0, 0.2)]
    limits: ClassVar = [(-2.0, 2.0)]
    features, sample, samples = 2, 0.05, 20

    def rates(self, state: list[float], action: list[float]) -> list[float]:
        angle, velocity = state
        return [velocity, 1.0 / 0.5 * sin(angle) + action[0] / (0.5 * 0.5**2)]

    def reward(self, state: list[float]) -> float:
        return -max(state[0] - 0.8, 0.0) - max(0.3 - state[0], 0.0) - 0.02 * abs(state[1])


class CruiseControl(Plant):
    """A car that keeps its distance to another one, which brakes."""

    start: ClassVar = [(90.0, 110.0), (32.0, 32.2), (0.0, 0.0), (10.0, 11.0), (30.0, 30.2), (0.0, 0.0)]
    limits: ClassVar = [(-3.0, 2.0)]
    features, sample, samples = 3, 0.1, 50

    def rates(self, state: list[float], action: list[float]) -> list[float]:
        _, v_lead, g_lead, _, v_ego, g_ego = state
        lead = [v_lead, g_lead, -2 * g_lead + 2 * -2 - 0.0001 * v_lead**2]
        return [*lead, v_ego, g_ego, -2 * g_ego + 2 * action[0] - 0.0001 * v_ego**2]

    def seen(self, state: list[float]) -> list[float]:
        x_lead, v_lead, _, x_ego, v_ego, _ = state
        return [v_ego - 30, (x_lead - x_ego - 80) / 10, v_lead - v_ego]

    def reward(self, state: list[float]) -> float:
        x_lead, v_lead, _, x_ego, v_ego, _ = state
        return -abs(v_lead - v_ego) / 10 - max(30 - (x_lead - x_ego - 1.4 * v_ego), 0) / 10


class Unicycle(Plant):
    """A vehicle that is steered to the origin; `late` is how much its place counts in the end, in goal boxes."""

    start: ClassVar = [(9.5, 9.55), (-4.5, -4.45), (2.1, 2.11), (1.5, 1.51)]
    limits: ClassVar = [(-3.0, 3.0), (-3.0, 3.0)]
    features, sample, samples = 4, 0.2, 50

    def __init__(self, late: float = 0.0) -> None:
        super().__init__()
        self.late = late

    def rates(self, state: list[float], action: list[float]) -> list[float]:
        _, _, x3, x4 = state
        return [x4 * cos(x3), x4 * sin(x3), action[1], action[0]]

    def reward(self, state: list[float]) -> float:
        boxes = max(abs(value) / size for value, size in zip(state, (0.6, 0.2, 0.06, 0.3), strict=True))
        late = self.late * boxes if self.taken == self.samples else 0.0
        return -sum(abs(value) for value in state) / 10 - late

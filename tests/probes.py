"""Tiny environments with a known answer, as JAX twins and through Gymnasium."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import gymnasium as gym
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from diprl.program.signature import Discrete, Feature, Signature
from diprl.tasks.base import Task, Twin, ViewLayout, flat_view


class ProbeState(NamedTuple):
    """What is seen, and how many steps have been made."""

    x: Array
    steps: Array


@dataclass(frozen=True)
class Probe:
    """Shows one number x in [−1, 1], pays `reward(x, action)` and ends after `horizon` steps."""

    reward: Callable[[Array, Array], Array]
    horizon: int = 1
    reset_size: int = 1

    def reset(self, uniform: Array) -> ProbeState:
        return ProbeState(jnp.float32(2 * uniform[0] - 1), jnp.int32(0))

    def observe(self, state: ProbeState) -> Array:
        return jnp.stack([state.x])

    def step(self, state: ProbeState, action: Array) -> tuple[ProbeState, Array, Array]:
        following = ProbeState(state.x, state.steps + 1)
        return following, self.reward(state.x, action), following.steps >= self.horizon


@dataclass(frozen=True)
class Countdown:
    """Two steps, seen as 0 and 1; only the last one pays, so the first is worth γ."""

    horizon: int = 2
    reset_size: int = 1

    def reset(self, uniform: Array) -> ProbeState:
        return ProbeState(0.0 * uniform[0], jnp.int32(0))

    def observe(self, state: ProbeState) -> Array:
        return jnp.stack([state.x])

    def step(self, state: ProbeState, action: Array) -> tuple[ProbeState, Array, Array]:
        last = state.steps == 1
        return ProbeState(jnp.float32(1.0), state.steps + 1), jnp.where(last, 1.0, 0.0), last


THRESHOLD = 0.3
INNER = 0.4


def _value_reward(x: Array, action: Array) -> Array:
    return x + 0.0 * action


def _threshold_reward(x: Array, action: Array) -> Array:
    return jnp.where((x > THRESHOLD) == (action == 1), 1.0, 0.0)


def _nested_reward(x: Array, action: Array) -> Array:
    return jnp.where((jnp.abs(x) < INNER) == (action == 1), 1.0, 0.0)


def _constant_reward(x: Array, action: Array) -> Array:
    return 0.5 * action + 0.0 * x


class TwinEnvironment(gym.Env[NDArray[np.float32], int]):
    """A twin played one step at a time through Gymnasium's interface."""

    def __init__(self, twin: Twin, actions: int, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.twin = twin
        self.observation_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.action_space = gym.spaces.Discrete(actions)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.state = self.twin.reset(jnp.asarray(self.np_random.random(self.twin.reset_size, np.float32)))
        return np.asarray(self.twin.observe(self.state)), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.state, reward, terminated = self.twin.step(self.state, jnp.int32(action))
        return np.asarray(self.twin.observe(self.state)), float(reward), bool(terminated), False, {}


def probe_task(name: str, twin: Twin, actions: tuple[str, ...]) -> Task:
    """A twin as a task with one feature, `x`."""
    return Task(
        name=name,
        signature=Signature((Feature("x", low=-1.0, high=1.0),), Discrete(actions)),
        reference=partial(TwinEnvironment, twin, len(actions)),
        horizon=twin.horizon,
        layout=ViewLayout(features=1, critic=1),
        view=flat_view,
        twin=lambda: twin,
        budget=20_000,
    )


PROBES: dict[str, Task] = {
    task.name: task
    for task in (
        probe_task("ValueProbe", Probe(_value_reward), ("only",)),
        probe_task("DiscountProbe", Countdown(), ("only",)),
        probe_task("ThresholdProbe", Probe(_threshold_reward), ("below", "above")),
        probe_task("NestedProbe", Probe(_nested_reward), ("outside", "inside")),
        probe_task("ConstantProbe", Probe(_constant_reward), ("worst", "middling", "best")),
    )
}
"""ValueProbe is worth x; DiscountProbe γ, then 1; ThresholdProbe wants `above` where x > 0.3; NestedProbe
`inside` where |x| < 0.4, which takes two conditions; ConstantProbe `best` everywhere."""

"""The classic-control twins against Gymnasium: every step, every reset, every ending."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray

from diprl.tasks.base import Twin
from diprl.tasks.registry import load_task
from diprl.tasks.twins.classic import Acrobot, CartPole, MountainCar, MountainCarState, mountain_car_potential

STEPS = 10_000
TASKS: dict[str, tuple[Twin, float]] = {
    "CartPole-v1": (CartPole(), 2e-6),
    "Acrobot-v1": (Acrobot(), 4e-5),
    "MountainCar-v0": (MountainCar(), 2e-7),
}


def coordinates(state: Any) -> NDArray[np.float64]:
    """The part of a twin's state that Gymnasium stores."""
    return np.array(state[:4], np.float64)


def energetic(name: str, observation: Any) -> Any:
    """A policy that ends episodes: it pumps energy in, or chases a fall. Takes one observation or a batch."""
    if name == "Acrobot-v1":
        return 2 * (observation[..., 4] <= 0)
    if name == "MountainCar-v0":
        return 2 * (observation[..., 1] >= 0)
    return 1 * (observation[..., 2] < 0)


def visited(name: str, mixture: Callable[[int], float]) -> dict[str, NDArray[Any]]:
    """Gymnasium's transitions from states as it stores them, each one with what came of it."""
    environment = gym.make(name, disable_env_checker=True)
    generator = np.random.default_rng(7)
    observation, _ = environment.reset(seed=3)
    episode, rows = 0, []
    for _ in range(STEPS):
        before = np.array(environment.unwrapped.state, np.float32)  # type: ignore[attr-defined]
        environment.unwrapped.state = before.astype(np.float64)  # type: ignore[attr-defined]
        action = int(energetic(name, observation))
        if generator.random() < mixture(episode):
            action = int(generator.integers(environment.action_space.n))  # type: ignore[attr-defined]
        observation, reward, terminated, truncated, _ = environment.step(action)
        rows.append((before, action, observation, reward, terminated))
        if terminated or truncated:
            episode += 1
            observation, _ = environment.reset()
    names = ("before", "action", "after", "reward", "terminated")
    columns = map(np.array, zip(*rows, strict=True))
    return dict(zip(names, columns, strict=True))


def twin_states(twin: Twin, coordinates: NDArray[np.float32]) -> Any:
    """States of the twin at the given coordinates, through the state type that `reset` returns."""
    state = twin.reset(jnp.zeros(twin.reset_size))
    columns = [jnp.asarray(column) for column in coordinates.T]
    if isinstance(twin, Acrobot):
        columns += [f(angle) for angle in columns[:2] for f in (jnp.cos, jnp.sin)]
    return type(state)(*columns)


@pytest.mark.parametrize("name", TASKS)
def test_every_step_is_gymnasiums(name: str) -> None:
    twin, tolerance = TASKS[name]
    seen = visited(name, mixture=lambda episode: (episode % 4) / 4)
    states, rewards, terminated = jax.jit(jax.vmap(twin.step))(
        twin_states(twin, seen["before"]), jnp.asarray(seen["action"])
    )
    observations = np.asarray(jax.vmap(twin.observe)(states))
    scale = np.maximum(1.0, np.abs(seen["after"]))
    assert observations.dtype == np.float32
    assert set(seen["action"]) == set(range(len(load_task(name).signature.actions.names)))
    assert np.max(np.abs(observations - seen["after"]) / scale) < tolerance
    np.testing.assert_array_equal(np.asarray(rewards), seen["reward"])
    np.testing.assert_array_equal(np.asarray(terminated), seen["terminated"])
    assert seen["terminated"].sum() > 10


@pytest.mark.parametrize("name", TASKS)
def test_resets_cover_gymnasiums_range_evenly(name: str) -> None:
    twin, _ = TASKS[name]
    environment = gym.make(name)
    references = np.array([environment.reset(seed=seed)[0] for seed in range(500)])
    uniform = np.random.default_rng(0).random((500, twin.reset_size), np.float32)
    observations = np.asarray(jax.vmap(lambda numbers: twin.observe(twin.reset(numbers)))(uniform))
    spread = references.std(axis=0) + 1e-6
    assert np.all(np.abs(observations.mean(axis=0) - references.mean(axis=0)) < 0.3 * spread)
    assert np.all(np.abs(observations.std(axis=0) - references.std(axis=0)) < 0.15 * spread)
    edges = jnp.stack([jnp.zeros(twin.reset_size), jnp.ones(twin.reset_size)])
    extremes = np.array([coordinates(twin.reset(edge)) for edge in edges])
    state = np.array([_state_after_reset(environment, seed) for seed in range(500)])
    assert np.all(state >= extremes[0] - 1e-6)
    assert np.all(state <= extremes[1] + 1e-6)


def _state_after_reset(environment: gym.Env[Any, Any], seed: int) -> NDArray[np.float64]:
    environment.reset(seed=seed)
    return np.array(environment.unwrapped.state)  # type: ignore[attr-defined]


def twin_returns(name: str, twin: Twin, episodes: int) -> NDArray[np.float32]:
    """Returns of whole episodes of the twin under the energetic policy."""

    def advance(carry: tuple[Any, Any, Any], _: None) -> tuple[tuple[Any, Any, Any], None]:
        states, returns, running = carry
        states, rewards, terminated = jax.vmap(twin.step)(states, energetic(name, jax.vmap(twin.observe)(states)))
        return (states, returns + running * rewards, running & ~terminated), None

    uniform = np.random.default_rng(1).random((episodes, twin.reset_size), np.float32)
    start = jax.vmap(twin.reset)(uniform), jnp.zeros(episodes), jnp.ones(episodes, bool)
    (_, returns, _), _ = jax.lax.scan(advance, start, length=twin.horizon)
    return np.asarray(returns)


def reference_returns(name: str, episodes: int) -> NDArray[np.float64]:
    """Returns of whole episodes of the reference under the energetic policy."""
    environment = gym.make(name, disable_env_checker=True)
    returns = np.zeros(episodes)
    for episode in range(episodes):
        observation, _ = environment.reset(seed=episode)
        ended = False
        while not ended:
            observation, reward, terminated, truncated, _ = environment.step(int(energetic(name, observation)))
            returns[episode] += float(reward)
            ended = terminated or truncated
    return returns


@pytest.mark.parametrize("name", TASKS)
def test_whole_episodes_return_as_much(name: str) -> None:
    twin, _ = TASKS[name]
    assert twin.horizon == load_task(name).horizon
    ours, theirs = twin_returns(name, twin, 2000), reference_returns(name, 80)
    error = np.hypot(ours.std() / 2000**0.5, theirs.std() / 80**0.5)
    assert abs(ours.mean() - theirs.mean()) < 3.5 * error


def test_resting_at_the_left_wall_is_inelastic() -> None:
    state = MountainCarState(jnp.float32(-1.19), jnp.float32(-0.07))
    following, _, _ = MountainCar().step(state, jnp.int32(0))
    assert float(following.position) == np.float32(-1.2)
    assert float(following.velocity) == 0.0


def test_mountain_car_potential_is_scaled_energy() -> None:
    views = np.array([[-0.5, 0.0], [0.1, 0.05]], np.float32)
    energy = 0.0025 / 3 * np.sin(3 * views[:, 0]) + views[:, 1] ** 2 / 2
    np.testing.assert_allclose(mountain_car_potential(jnp.asarray(views)), 1e4 * energy, rtol=1e-5)

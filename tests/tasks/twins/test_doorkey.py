"""The DoorKey twin against MiniGrid: layouts, perceptions, every action in every odd state."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray

from diprl.tasks.gym.doorkey import make_door_key
from diprl.tasks.registry import load_task
from diprl.tasks.twins.doorkey import (
    CLOSED,
    DROP,
    ELSEWHERE,
    FORWARD,
    LEFT,
    LOCKED,
    OPEN,
    PICK_UP,
    RIGHT,
    TOGGLE,
    DoorKey,
    DoorKeyState,
)

SIZES = (5, 6, 8)


def state_of(environment: gym.Env[Any, Any]) -> Any:
    """The twin's state for what lies in MiniGrid's grid."""
    room: Any = environment.unwrapped
    width = room.grid.width
    places = {thing.type: divmod(index, width)[::-1] for index, thing in enumerate(room.grid.grid) if thing}
    door = room.grid.get(*places["door"])
    condition = OPEN if door.is_open else LOCKED if door.is_locked else CLOSED
    key_x, key_y = places.get("key", (ELSEWHERE, ELSEWHERE))
    wall_x, door_y = places["door"]
    numbers = (*room.agent_pos, room.agent_dir, key_x, key_y, condition, door_y, wall_x, room.step_count)
    return DoorKeyState(*(np.int32(number) for number in numbers))


def solver(perceived: NDArray[np.float32]) -> int:
    """A short program that nearly always reaches the goal."""
    _, _, ahead, right, blocked, key, door = perceived
    if key:
        return PICK_UP
    if door:
        return TOGGLE
    if ahead > 0 and not blocked:
        return FORWARD
    return RIGHT if right > 0 else LEFT


def episodes(size: int, steps: int, randomness: float) -> Iterator[tuple[Any, ...]]:
    """MiniGrid's transitions, each with the twin's state before and after it."""
    environment = make_door_key(size)
    generator = np.random.default_rng(size)
    observation, _ = environment.reset(seed=size)
    for _ in range(steps):
        before, perceived = state_of(environment), observation
        action = solver(observation)
        if generator.random() < randomness:
            action = int(generator.choice([*range(7), FORWARD, PICK_UP, DROP, TOGGLE]))
        observation, reward, terminated, truncated, _ = environment.step(action)
        yield before, perceived, action, state_of(environment), observation, reward, terminated, truncated
        if terminated or truncated:
            observation, _ = environment.reset()


def stacked(states: list[Any]) -> DoorKeyState:
    return DoorKeyState(*(jnp.asarray(column) for column in np.array(states, np.int32).T))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("randomness", [0.15, 0.9])
def test_every_step_is_minigrids(size: int, randomness: float) -> None:
    twin, columns = DoorKey(size), list(zip(*episodes(size, 1500, randomness), strict=True))
    before, perceived, actions, after, observations, rewards, terminated, truncated = columns
    states = stacked(list(before))
    following, twin_rewards, arrived = jax.jit(jax.vmap(twin.step))(states, jnp.array(actions))
    np.testing.assert_array_equal(jax.vmap(twin.observe)(states), np.array(perceived))
    np.testing.assert_array_equal(jax.vmap(twin.observe)(following), np.array(observations))
    np.testing.assert_array_equal(np.array(arrived), np.array(terminated))
    np.testing.assert_allclose(np.array(twin_rewards), np.array(rewards), atol=1e-6)
    expected = stacked(list(after))
    running = ~np.array(terminated)
    for ours, theirs in zip(following, expected, strict=True):
        np.testing.assert_array_equal(np.array(ours)[running], np.array(theirs)[running])
    limit = np.array(following.steps) >= twin.horizon
    np.testing.assert_array_equal(limit, np.array(truncated))


def test_random_play_meets_the_odd_states() -> None:
    rows = list(episodes(6, 3000, 0.6))
    after = [row[3] for row in rows]
    dropped = [int(state.key_x) > int(state.wall_x) for state in after]
    shut = [int(state.door) == CLOSED for state in after]
    keyless = [int(state.door) == OPEN and int(state.key_x) != ELSEWHERE for state in after]
    assert any(dropped)
    assert any(shut)
    assert any(keyless)
    assert any(row[6] for row in rows)


@pytest.mark.parametrize("size", SIZES)
def test_layouts_are_drawn_as_minigrid_draws_them(size: int) -> None:
    environment, draws = make_door_key(size), 1000
    theirs = []
    for seed in range(draws):
        environment.reset(seed=seed)
        theirs.append(state_of(environment))
    uniform = np.random.default_rng(0).random((20_000, DoorKey(size).reset_size), np.float32)
    reference = np.stack([np.array(column) for column in stacked(theirs)], axis=1)
    ours = np.stack([np.array(column) for column in jax.vmap(DoorKey(size).reset)(uniform)], axis=1)
    assert ours.dtype == np.int32
    for first in range(reference.shape[1]):
        for second in range(first):
            pair = [first, second]
            assert_same_distribution(ours[:, pair], reference[:, pair])
    same_cell = (ours[:, 0] == ours[:, 3]) & (ours[:, 1] == ours[:, 4])
    assert not same_cell.any()


def assert_same_distribution(ours: NDArray[Any], theirs: NDArray[Any]) -> None:
    """Every value the reference draws occurs, no other does, and frequencies agree within sampling error."""
    expected, seen = Counter(map(tuple, ours.tolist())), Counter(map(tuple, theirs.tolist()))
    assert set(seen) <= set(expected)
    for value, count in expected.items():
        probability = count / len(ours)
        spread = (probability * (1 - probability) * (1 / len(theirs) + 1 / len(ours))) ** 0.5
        assert abs(seen[value] / len(theirs) - probability) <= 4.5 * spread


def test_extreme_uniform_numbers_stay_inside_the_room() -> None:
    highest = np.nextafter(np.float32(1), np.float32(0))
    for size in SIZES:
        for number in (np.float32(0), highest):
            state = DoorKey(size).reset(jnp.full(5, number))
            assert 1 <= int(state.x) < int(state.wall_x) <= size - 3
            assert 1 <= int(state.key_x) < int(state.wall_x)
            assert 1 <= int(state.door_y) <= size - 3


def test_the_task_solves_like_its_twin() -> None:
    task = load_task("DoorKey-6x6")
    environment = task.reference()
    observation, _ = environment.reset(seed=11)
    total, ended = 0.0, False
    while not ended:
        assert environment.observation_space.contains(observation)
        action = solver(task.view(observation[None])[0])
        observation, reward, terminated, truncated, _ = environment.step(action)
        total, ended = total + float(reward), terminated or truncated
    assert task.horizon == 360
    assert total > 0.9

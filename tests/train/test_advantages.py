"""Generalised advantage estimates against a plain loop."""

import jax
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from diprl.train.trajectory import Trajectory, advantages

TIME, ENVS = 9, 3
compiled = jax.jit(advantages)


def plain_loop(
    trajectory: Trajectory, values: NDArray, next_values: NDArray, gamma: float, trace: float
) -> NDArray[np.float64]:
    result = np.zeros((TIME, ENVS))
    for env in range(ENVS):
        following = 0.0
        for time in reversed(range(TIME)):
            terminated, done = trajectory.terminated[time, env], trajectory.done[time, env]
            future = 0.0 if terminated else gamma * next_values[time, env]
            error = trajectory.reward[time, env] + future - values[time, env]
            following = error if done else error + gamma * trace * following
            result[time, env] = following
    return result


@settings(max_examples=40)
@given(st.integers(0, 2**31), st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.6), st.floats(0, 0.6))
def test_advantages_are_those_of_a_plain_loop(
    seed: int, gamma: float, trace: float, terminate: float, truncate: float
) -> None:
    generator = np.random.default_rng(seed)
    reward, values, next_values = generator.normal(size=(3, TIME, ENVS)).astype(np.float32)
    terminated = generator.random((TIME, ENVS)) < terminate
    done = terminated | (generator.random((TIME, ENVS)) < truncate)
    view = np.zeros((TIME, ENVS, 1), np.float32)
    trajectory = Trajectory(view, reward, reward, view, terminated, done)  # type: ignore[arg-type]
    found = compiled(trajectory, values, next_values, np.float32(gamma), np.float32(trace))
    np.testing.assert_allclose(found, plain_loop(trajectory, values, next_values, gamma, trace), rtol=1e-4, atol=1e-4)

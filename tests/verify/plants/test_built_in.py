"""The plants that come with the package step as their environments do, step for step."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from diprl.verify.plants.read import BUILT_IN, plant_of


@pytest.mark.parametrize("task", BUILT_IN)
def test_plants_step_as_the_environments_do(task: str) -> None:
    plant = plant_of(task)
    assert plant is not None
    environment: Any = gymnasium.make(task).unwrapped
    generator = np.random.default_rng(0)
    low, high = np.array(plant.start.low), np.array(plant.start.high)  # type: ignore[union-attr]
    for _ in range(10):
        environment.reset(seed=0)
        state = generator.uniform(low, high)
        environment.state = state.copy()
        for _ in range(100):
            action = generator.integers(len(plant.choices)) if plant.choices else generator.uniform(-3.0, 3.0, 1)
            inputs = np.array(plant.choices[action] if plant.choices else np.clip(action, plant.low, plant.high))
            state = plant.next_states(state[:, None], inputs[:, None], np.empty((0, 1)))[:, 0]
            seen, _, terminated, _, _ = environment.step(action)
            np.testing.assert_allclose(state, environment.state, rtol=0.0, atol=2e-15)
            shown = plant.observed(np.asarray(environment.state, np.float64)[:, None])[:, 0]
            np.testing.assert_array_equal(shown.astype(np.float32), seen)
            values = dict(zip(plant.states, np.asarray(environment.state), strict=True))
            assert bool(terminated) == any(bool(end(values)) for end in plant.ends)
            if terminated:
                break
            state = np.array(environment.state, np.float64)
    environment.close()

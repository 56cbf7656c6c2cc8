"""A plant file is an environment too: Gymnasium's interface around a plant, to learn programs for it."""

from typing import Any

import gymnasium
import numpy as np

from diprl.errors import DiprlError
from diprl.verify.plants.plant import Plant
from diprl.verify.plants.read import load_plant


class PlantEnvironment(gymnasium.Env[Any, Any]):
    """Starts anywhere in the plant's start box, and draws its unknowns at random; needs a reward in the plant file."""

    def __init__(self, plant: Plant | str, steps: int = 200) -> None:
        self.plant = load_plant(plant) if isinstance(plant, str) else plant
        if self.plant.reward is None or self.plant.start is None:
            raise DiprlError(f"to learn on the plant '{self.plant.name}', add 'reward:' and 'start:' to its file")
        self.steps, self.taken = steps, 0
        self.state = np.array(self.plant.start.low)
        self.constant = np.zeros((0, 1))
        features, inputs = len(self.plant.features), len(self.plant.inputs)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (features,), np.float32)
        self.action_space: gymnasium.Space[Any] = gymnasium.spaces.Discrete(max(len(self.plant.choices), 1))
        if not self.plant.choices:
            low, high = np.array(self.plant.low), np.array(self.plant.high)
            self.action_space = gymnasium.spaces.Box(low, high, (inputs,), np.float64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        assert self.plant.start is not None  # held by the constructor
        self.state = self.np_random.uniform(self.plant.start.low, self.plant.start.high)
        self.constant, self.taken = self._drawn(), 0
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        plant = self.plant
        choice = plant.choices[int(action)] if plant.choices else np.clip(action, plant.low, plant.high)
        inputs = np.asarray(choice, np.float64)[:, None]
        fixed = np.array([[one.constant] for one in plant.unknowns], bool).reshape(-1, 1)
        unknowns = np.where(fixed, self.constant, self._drawn())
        self.state = plant.next_states(self.state[:, None], inputs, unknowns)[:, 0]
        self.taken += 1
        values = plant.values(self.state.tolist(), inputs[:, 0].tolist(), unknowns[:, 0].tolist())
        assert plant.reward is not None  # held by the constructor
        reward = float(plant.reward(values))
        over = any(bool(end(values)) for end in plant.ends) or not np.isfinite(self.state).all()
        return self._seen(), reward if np.isfinite(reward) else 0.0, over, self.taken >= self.steps, {}

    def _drawn(self) -> Any:
        sides = [(one.low, one.high) for one in self.plant.unknowns]
        return np.array([self.np_random.uniform(*side) for side in sides]).reshape(-1, 1)

    def _seen(self) -> Any:
        return self.plant.observed(self.state[:, None])[:, 0].astype(np.float32)

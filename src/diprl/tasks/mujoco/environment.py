"""One MuJoCo environment behind Gymnasium's interface."""

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.tasks.mujoco import find_description
from diprl.tasks.mujoco.batch import Simulator
from diprl.tasks.mujoco.description import Array, Description, Start
from diprl.tasks.mujoco.engine import INTERVAL, import_mujoco, load_solver_first


class MujocoEnvironment(gym.Env[NDArray[np.float64], NDArray[np.float32]]):
    """Steps one description, or the registered one of that name; `gymnasium.make` adds the time limit."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": round(1.0 / INTERVAL)}

    def __init__(
        self, description: Description | str, render_mode: str | None = None, width: int = 480, height: int = 480
    ) -> None:
        description = find_description(description) if isinstance(description, str) else description
        if render_mode not in (None, "rgb_array"):
            raise DiprlError(
                f"render_mode '{render_mode}' is not supported: use 'rgb_array' (gymnasium.make adds 'human')"
            )
        self.description = description
        self.render_mode = render_mode
        self.action_space = Box(
            -description.action_limit, description.action_limit, (description.action_size,), np.float32
        )
        self.observation_space = Box(-np.inf, np.inf, (description.observation_size,), np.float64)
        self._simulator = Simulator(description, 1)
        self.model, self.data = self._simulator.model, self._simulator.data[0]
        self._size = (height, width)
        self._renderer: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        return self.begin(self.description.start(self.np_random, 1)), {}

    def begin(self, start: Start) -> Array:
        """Place the robot and the goal (arrays of one row) and return the observation there."""
        self.states = self._simulator.settle(start)
        return self.description.observe(self.states)[0]

    def step(self, action: NDArray[Any]) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        self.states, judgement = self._simulator.step(self.states, np.asarray(action)[None])
        info = {name: value[0].item() for name, value in judgement.info.items()}
        observation = self.description.observe(self.states)[0]
        return observation, float(judgement.reward[0]), bool(judgement.terminated[0]), False, info

    def render(self) -> NDArray[np.uint8] | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self.render_mode is None:
            return None
        mujoco = import_mujoco()
        if self._renderer is None:
            load_solver_first()
            self._renderer = mujoco.Renderer(self.model, *self._size)
        if self.states.goal.size:
            self.data.mocap_pos[0, :2] = self.states.goal[0]
            mujoco.mj_kinematics(self.model, self.data)
        self._renderer.update_scene(self.data, camera="overview")
        return self._renderer.render()

    def close(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

"""One MuJoCo environment behind Gymnasium's interface."""

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.tasks.mujoco import find_description
from diprl.tasks.mujoco.description import Array, Description, Start, States
from diprl.tasks.mujoco.engine import FRAME_SKIP, INTERVAL, import_mujoco, load_solver_first


class MujocoEnvironment(gym.Env[NDArray[np.float64], NDArray[np.float32]]):
    """Steps one description, or the registered one of that name; `gymnasium.make` adds the time limit."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": round(1.0 / INTERVAL)}

    def __init__(
        self,
        description: Description | str,
        render_mode: str | None = None,
        width: int = 480,
        height: int = 480,
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
        self._mujoco = import_mujoco()
        self.model = description.model()
        self.data = self._mujoco.MjData(self.model)
        self._size = (height, width)
        self._renderer: Any = None
        self._goal = np.empty((1, 0))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        return self.begin(self.description.start(self.np_random, 1)), {}

    def begin(self, start: Start) -> Array:
        """Place the robot and the goal (arrays of one row) and return the observation there."""
        self._mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = start.qpos[0], start.qvel[0]
        self._goal = start.goal
        if self._goal.size:
            self.data.mocap_pos[0, :2] = self._goal[0]
        self._mujoco.mj_forward(self.model, self.data)
        return self.description.observe(self.states())[0]

    def states(self) -> States:
        """The present state as a batch of one, copied."""
        places = self.data.sensordata.reshape(1, -1, 3).copy()
        return States(self.data.qpos[None].copy(), self.data.qvel[None].copy(), places, self._goal.copy())

    def step(self, action: NDArray[Any]) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        clipped = self.description.clip(np.asarray(action)[None], 1)
        before = self.states()
        self.data.ctrl[:] = clipped[0]
        # A cold solver makes the next state a function of state and action alone, as in a rollout.
        self.data.qacc_warmstart[:] = 0.0
        self._mujoco.mj_step(self.model, self.data, FRAME_SKIP)
        after = self.states()
        judgement = self.description.judge(before, clipped, after)
        info = {name: value[0].item() for name, value in judgement.info.items()}
        observation = self.description.observe(after)[0]
        return observation, float(judgement.reward[0]), bool(judgement.terminated[0]), False, info

    def render(self) -> NDArray[np.uint8] | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self.render_mode is None:
            return None
        if self._renderer is None:
            load_solver_first()
            self._renderer = self._mujoco.Renderer(self.model, *self._size)
        self._renderer.update_scene(self.data, camera="overview")
        return self._renderer.render()

    def close(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

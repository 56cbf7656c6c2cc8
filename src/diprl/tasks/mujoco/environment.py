"""MuJoCo environments: many copies of one on MuJoCo's own thread pool, and one behind Gymnasium's interface."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box
from gymnasium.wrappers import TimeLimit
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.system.processes import available_cores
from diprl.tasks.base import Step, with_first_views
from diprl.tasks.mujoco import find_description
from diprl.tasks.mujoco.description import Array, Description, Judgement, Start, States
from diprl.tasks.mujoco.engine import FRAME_SKIP, INTERVAL, import_mujoco, load_solver_first

View = Callable[[NDArray[Any]], NDArray[Any]]


class Simulator:
    """Advances n states at once; it holds buffers and threads but no state of its own."""

    def __init__(self, description: Description, num_envs: int) -> None:
        self._mujoco = import_mujoco()
        self.description, self.judge = description, description.judge
        self.model = model = description.model()
        threads = min(num_envs, available_cores())
        self._models = [model] * num_envs
        self.data = [self._mujoco.MjData(model) for _ in range(threads)]
        self._pool = self._mujoco.rollout.Rollout(nthread=threads if threads > 1 else 0)
        self._positions = slice(1, 1 + model.nq)
        self._velocities = slice(1 + model.nq, 1 + model.nq + model.nv)
        kind = self._mujoco.mjtState.mjSTATE_FULLPHYSICS
        size = self._mujoco.mj_stateSize(model, kind)
        self._initial = np.zeros((num_envs, size))
        self._states = np.empty((num_envs, FRAME_SKIP, size))
        self._sensors = np.empty((num_envs, FRAME_SKIP, model.nsensordata))

    def settle(self, start: Start) -> States:
        """The states in which episodes begin, with the bodies where the joints put them."""
        data = self.data[0]
        places = np.empty((len(start.qpos), self.model.nsensordata))
        for row, qpos in enumerate(start.qpos):
            data.qpos[:], data.qvel[:] = qpos, start.qvel[row]
            self._mujoco.mj_forward(self.model, data)
            places[row] = data.sensordata
        return States(start.qpos, start.qvel, places.reshape(len(places), -1, 3), start.goal)

    def advance(self, states: States, actions: Array) -> States:
        """The states one control step later."""
        self._initial[:, self._positions], self._initial[:, self._velocities] = states.qpos, states.qvel
        self._pool.rollout(
            self._models,
            self.data,
            self._initial,
            np.repeat(actions[:, None], FRAME_SKIP, axis=1),
            skip_checks=True,
            nstep=FRAME_SKIP,
            state=self._states,
            sensordata=self._sensors,
        )
        last, sensors = self._states[:, -1], self._sensors[:, -1]
        qpos, qvel = last[:, self._positions].copy(), last[:, self._velocities].copy()
        return States(qpos, qvel, sensors.reshape(len(sensors), -1, 3).copy(), states.goal)

    def step(self, states: States, actions: NDArray[Any]) -> tuple[States, Judgement]:
        """The states one control step later, and what the step earned."""
        clipped = self.description.clip(actions, len(self._models))
        after = self.advance(states, clipped)
        return after, self.judge(states, clipped, after)

    def close(self) -> None:
        if self._pool.rollout_ is not None:
            self._pool.close()


class MujocoEnvironments:
    """A batch of environments that resets each one in the step that ends its episode."""

    def __init__(self, description: Description, view: View, num_envs: int) -> None:
        self.num_envs = num_envs
        self.description, self._view = description, view
        self._simulator = Simulator(description, num_envs)
        self._rng = np.random.default_rng()
        self._elapsed = np.zeros(num_envs, np.int64)
        self._states: States | None = None

    @property
    def states(self) -> States:
        """The states that the next actions act on."""
        if self._states is None:
            raise DiprlError("call reset(seed) before stepping these environments")
        return self._states

    def reset(self, seed: int) -> NDArray[np.float32]:
        self._rng = np.random.default_rng(seed)
        self._elapsed[:] = 0
        self._states = self._fresh(self.num_envs)
        return self._view(self.description.observe(self._states))

    def step(self, actions: NDArray[Any]) -> Step:
        self._states, judgement = self._simulator.step(self.states, actions)
        self._elapsed += 1
        truncated = self._elapsed >= self.description.horizon
        next_view = self._view(self.description.observe(self._states))
        view = with_first_views(next_view, judgement.terminated | truncated, self._begin)
        reward = judgement.reward.astype(np.float32)
        return Step(view, next_view, reward, judgement.terminated, truncated, judgement.info)

    def set_progress(self, fraction: float) -> None:
        """Tell a description that changes during training how much of it has passed, from 0 to 1."""
        if self.description.anneals:
            self._simulator.judge = partial(self.description.judge, progress=fraction)

    def close(self) -> None:
        self._simulator.close()

    def _begin(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        fresh = self._fresh(len(rows))
        self._states = self.states.replace_rows(rows, fresh)
        self._elapsed[rows] = 0
        return self._view(self.description.observe(fresh))

    def _fresh(self, count: int) -> States:
        return self._simulator.settle(self.description.start(self._rng, count))


class MujocoEnvironment(gym.Env[NDArray[np.float64], NDArray[np.float32]]):
    """Steps one description, or the registered one of that name; `gymnasium.make` adds the time limit."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": round(1.0 / INTERVAL)}

    def __init__(
        self, description: Description | str, render_mode: str | None = None, width: int = 480, height: int = 480
    ) -> None:
        description = find_description(description) if isinstance(description, str) else description
        if render_mode not in (None, "rgb_array"):
            supported = "use 'rgb_array' (gymnasium.make adds 'human')"
            raise DiprlError(f"render_mode '{render_mode}' is not supported: {supported}")
        self.description, self.render_mode = description, render_mode
        limit = description.action_limit
        self.action_space = Box(-limit, limit, (description.action_size,), np.float32)
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


def limited(description: Description, **settings: Any) -> gym.Env[Any, Any]:
    """One environment of a description that need not be registered, with its time limit."""
    return TimeLimit(MujocoEnvironment(description, **settings), description.horizon)

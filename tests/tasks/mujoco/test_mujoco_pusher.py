"""Pusher2D against its specification."""

import numpy as np
import pytest

from diprl.tasks.mujoco.description import Start
from diprl.tasks.mujoco.environment import MujocoEnvironment
from diprl.tasks.mujoco.pusher import PUSHER, judge, start


@pytest.fixture(scope="module")
def environment() -> MujocoEnvironment:
    return MujocoEnvironment(PUSHER)


def begin(environment: MujocoEnvironment, joints: tuple[float, ...], puck: tuple[float, float]) -> np.ndarray:
    return environment.begin(Start(np.array([[*joints, *puck]]), np.zeros((1, 5)), np.empty((1, 0))))


def test_a_scripted_push_moves_the_puck_and_never_passes_through_it(environment: MujocoEnvironment) -> None:
    observation = begin(environment, (0.0, 0.0, 0.0), (0.0, 0.0))
    tip = observation[9:11]
    observation = begin(environment, (0.0, 0.0, 0.0), (tip[0] - 0.02, tip[1] - 0.16))
    before, closest = observation[12:14].copy(), np.inf
    for _ in range(30):
        observation = environment.step(np.array([-1.0, -1.0, 0.0]))[0]
        closest = min(closest, np.linalg.norm(observation[9:12] - observation[12:15]))
    assert observation[13] < before[1] - 0.15
    assert closest > 0.125


def test_the_puck_is_all_mass_and_slows_down(environment: MujocoEnvironment) -> None:
    model = environment.model
    assert model.body("puck").mass[0] == pytest.approx(0.04)
    assert model.dof_armature[3:].tolist() == [0.0, 0.0]
    assert model.dof_damping[3:].tolist() == [0.5, 0.5]
    environment.begin(Start(np.array([[0.0, 0, 0, 0.6, -1.5]]), np.array([[0.0, 0, 0, 1, 0]]), np.empty((1, 0))))
    environment.step(np.zeros(3))
    assert environment.data.qvel[3] == pytest.approx(np.exp(-0.05 / 0.08), abs=0.05)


def test_the_arm_is_built_as_specified(environment: MujocoEnvironment) -> None:
    model = environment.model
    assert model.opt.timestep == 0.01
    assert model.opt.iterations == 20
    assert not model.opt.gravity.any()
    assert np.allclose(model.jnt_range[:3], [(-2.5, 2.5), (-2.3213, 2.3), (-2.3213, 2.3)])
    assert model.dof_armature[:3].tolist() == [0.04] * 3
    assert model.dof_damping[:3].tolist() == [1.0] * 3
    assert np.allclose(model.actuator_ctrlrange, (-3, 3))
    assert (model.geom_condim == 1).all()
    assert np.allclose(model.geom_margin, 0.002)
    link = 300 * (np.pi * 0.06**2 * 0.4 + 4 / 3 * np.pi * 0.06**3)
    assert model.body("upper").mass[0] == pytest.approx(link)


def test_the_tip_is_the_middle_of_the_crossbar(environment: MujocoEnvironment) -> None:
    tip = begin(environment, (0.0, 0.0, 0.0), (0.5, -0.5))[9:12]
    turns = np.cumsum([0.785, -0.785, -1.57])
    assert np.allclose(tip, [0.4 * np.cos(turns).sum(), 0.4 * np.sin(turns).sum(), -0.075])


def test_the_reward_is_that_of_the_state_before_the_step(environment: MujocoEnvironment) -> None:
    observation = begin(environment, (0.05, 0.0, 0.0), (0.4, -0.6))
    action = np.array([1.0, -2.0, 0.5])
    _, reward, terminated, _, info = environment.step(action)
    reach = np.linalg.norm(observation[9:12] - observation[12:15])
    offset = np.hypot(0.4, 0.4)
    assert reward == pytest.approx(-(0.5 * reach + offset + 0.1 * 5.25))
    assert info["distance"] == pytest.approx(offset - 0.07)
    assert not terminated


@pytest.mark.parametrize(("x", "distance", "success"), [(0.05, 0.0, True), (0.165, 0.095, True), (0.2, 0.13, False)])
def test_distance_and_success(environment: MujocoEnvironment, x: float, distance: float, success: bool) -> None:
    begin(environment, (0.0, 0.0, 0.0), (x, -1.0))
    states = environment.states
    info = judge(states, np.zeros((1, 3)), states).info
    assert info["distance"][0] == pytest.approx(distance, abs=1e-9)
    assert info["is_success"][0] == success


def test_episodes_begin_at_rest_with_the_puck_on_the_right() -> None:
    drawn = start(np.random.default_rng(0), 2000)
    assert np.abs(drawn.qpos[:, :3]).max() <= 0.1
    assert not drawn.qvel.any()
    puck = drawn.qpos[:, 3:]
    assert np.allclose(puck.min(axis=0), (0.3, -1.0), atol=0.01)
    assert np.allclose(puck.max(axis=0), (1.0, -0.4), atol=0.01)

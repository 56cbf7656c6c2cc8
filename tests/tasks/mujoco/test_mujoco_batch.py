"""The batched backend against the Gymnasium environments."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

from diprl.errors import DiprlError
from diprl.tasks.batches.choose import make_environments
from diprl.tasks.mujoco import DESCRIPTIONS
from diprl.tasks.mujoco.description import Description, Start, States
from diprl.tasks.mujoco.engine import FRAME_SKIP, import_mujoco
from diprl.tasks.mujoco.environment import MujocoEnvironment, MujocoEnvironments, Simulator
from diprl.tasks.registry import load_task

NAMES = sorted(DESCRIPTIONS)


def exact(observations: np.ndarray) -> np.ndarray:
    return np.array(observations)


def row(states: States, index: int) -> Start:
    return Start(*(part[index : index + 1] for part in (states.qpos, states.qvel, states.goal)))


@pytest.mark.parametrize("name", NAMES)
def test_equals_gymnasium_for_fifty_control_steps(name: str) -> None:
    description, count = DESCRIPTIONS[name], 3
    batch = MujocoEnvironments(description, exact, count)
    views = batch.reset(seed=5)
    singles = [gym.make(f"diprl.tasks.mujoco:diprl/{name}-v0").unwrapped for _ in range(count)]
    for index, single in enumerate(singles):
        assert isinstance(single, MujocoEnvironment)
        assert np.array_equal(single.begin(row(batch.states, index)), views[index])
    rng = np.random.default_rng(6)
    for _ in range(50):
        actions = rng.uniform(-1.3, 1.3, (count, description.action_size)) * description.action_limit
        step = batch.step(actions)
        for index, single in enumerate(singles):
            observation, reward, terminated, _, info = single.step(actions[index])
            assert np.abs(observation - step.next_view[index]).max() < 1e-9
            assert float(reward) == pytest.approx(step.reward[index], rel=1e-6, abs=1e-6)
            assert terminated == step.terminated[index]
            assert {key: value[index] for key, value in step.info.items()} == pytest.approx(info, abs=1e-9)
        assert not step.terminated.any()
    batch.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_cold_solver_changes_nothing_that_matters(name: str) -> None:
    description, mujoco = DESCRIPTIONS[name], import_mujoco()
    simulator = Simulator(description, 1)
    states = simulator.settle(description.start(np.random.default_rng(2), 1))
    model = description.model()
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = states.qpos[0], states.qvel[0]
    rng = np.random.default_rng(3)
    for _ in range(20):
        actions = rng.uniform(-1, 1, (1, description.action_size)) * description.action_limit
        states = simulator.advance(states, actions)
        data.ctrl[:] = actions[0]
        mujoco.mj_step(model, data, FRAME_SKIP)
    assert np.abs(states.qpos[0] - data.qpos).max() < 1e-6
    simulator.close()


def short(horizon: int) -> Description:
    return replace(DESCRIPTIONS["Pusher2D"], horizon=horizon)


def test_episodes_restart_in_the_step_that_ends_them() -> None:
    batch = MujocoEnvironments(short(3), exact, 4)
    batch.reset(seed=0)
    for _ in range(2):
        step = batch.step(np.ones((4, 3)))
        assert not step.truncated.any()
        assert np.array_equal(step.view, step.next_view)
    last = batch.step(np.ones((4, 3)))
    assert last.truncated.all()
    assert not last.terminated.any()
    assert np.abs(last.next_view[:, 6:9]).min() > 0.0
    assert not last.view[:, 6:9].any()
    assert np.array_equal(last.view, short(3).observe(batch.states))
    assert not batch.step(np.ones((4, 3))).truncated.any()


def test_only_the_environment_that_ended_restarts() -> None:
    description = DESCRIPTIONS["AntRandomGoal"]

    def start(rng: np.random.Generator, count: int) -> Start:
        drawn = description.start(rng, count)
        goal = drawn.goal if count == 1 else np.array([[4.0, 0.0], [0.1, 0.0], [4.0, 0.0]])
        return drawn._replace(goal=goal)

    batch = MujocoEnvironments(replace(description, start=start), exact, 3)
    batch.reset(seed=0)
    step = batch.step(np.zeros((3, 8)))
    assert step.terminated.tolist() == [False, True, False]
    assert step.info["is_success"].tolist() == [False, True, False]
    changed = (step.view != step.next_view).any(axis=1)
    assert changed.tolist() == [False, True, False]
    assert np.array_equal(step.next_view[1, -2:], [0.1, 0.0])
    assert np.linalg.norm(step.view[1, -2:]) > 1.0


def test_the_same_seed_gives_the_same_episodes() -> None:
    batch = MujocoEnvironments(short(2), exact, 2)
    runs = []
    for seed in (7, 7, 8):
        first = batch.reset(seed=seed)
        runs.append([first, *(batch.step(np.ones((2, 3))).view for _ in range(5))])
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_misuse_is_explained() -> None:
    with pytest.raises(DiprlError, match="num_envs"):
        make_environments(load_task("Pusher2D"), 0)
    batch = MujocoEnvironments(short(2), exact, 2)
    with pytest.raises(DiprlError, match="reset"):
        batch.step(np.ones((2, 3)))
    batch.reset(seed=0)
    with pytest.raises(DiprlError, match="shape"):
        batch.step(np.ones((3, 3)))
    batch.close()
    batch.close()

"""The four environments behind Gymnasium's interface."""

import subprocess
import sys
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import HumanRendering

from diprl.errors import DiprlError, NotFiniteError
from diprl.tasks.mujoco import DESCRIPTIONS, find_description
from diprl.tasks.mujoco.environment import MujocoEnvironment

NAMES = sorted(DESCRIPTIONS)


@pytest.mark.parametrize("name", NAMES)
def test_passes_gymnasiums_own_checker(name: str) -> None:
    environment = gym.make(f"diprl.tasks.mujoco:diprl/{name}-v0")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*A Box observation space (min|max)imum value is")
        warnings.filterwarnings("ignore", message=".*we recommend using a symmetric and normalized space")
        check_env(environment.unwrapped, skip_render_check=True)
    assert environment.spec is not None
    assert environment.spec.max_episode_steps == DESCRIPTIONS[name].horizon


def test_registering_loads_no_simulator() -> None:
    code = "import sys, diprl.tasks.mujoco; sys.exit('mujoco' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", NAMES)
def test_info_explains_the_reward(name: str) -> None:
    environment = gym.make(f"diprl.tasks.mujoco:diprl/{name}-v0")
    environment.reset(seed=3)
    environment.action_space.seed(3)
    for _ in range(5):
        _, reward, _, _, info = environment.step(environment.action_space.sample())
        parts = [value for key, value in info.items() if key.startswith("reward_")]
        assert reward == pytest.approx(sum(parts), abs=1e-12)
        assert info["distance"] >= 0.0
        assert isinstance(info["is_success"], bool)


@pytest.mark.parametrize("name", NAMES)
def test_actions_are_clipped_before_they_act_and_cost(name: str) -> None:
    limit = DESCRIPTIONS[name].action_limit
    outcomes = []
    for scale in (1.0, 7.0):
        environment = gym.make(f"diprl.tasks.mujoco:diprl/{name}-v0", disable_env_checker=True)
        environment.reset(seed=1)
        action = np.full(DESCRIPTIONS[name].action_size, limit * scale)
        outcomes.append([environment.step(action)[:2] for _ in range(3)])
    for (observation, reward), (other, other_reward) in zip(*outcomes, strict=True):
        assert np.array_equal(observation, other)
        assert reward == other_reward


@pytest.mark.parametrize("name", NAMES)
def test_renders_the_scene(name: str) -> None:
    environment = gym.make(f"diprl.tasks.mujoco:diprl/{name}-v0", render_mode="rgb_array")
    environment.reset(seed=0)
    try:
        frame = environment.render()
    except Exception as error:
        pytest.skip(f"off-screen rendering (EGL) does not work here: {error}")
    assert isinstance(frame, np.ndarray)
    assert frame.shape == (480, 480, 3)
    assert frame.std() > 5
    environment.close()


def test_gymnasium_shows_the_frames_in_a_window() -> None:
    pytest.importorskip("pygame")
    with pytest.warns(UserWarning, match="HumanRendering wrapper is being applied"):
        environment = gym.make("diprl.tasks.mujoco:diprl/Pusher2D-v0", render_mode="human")
    assert isinstance(environment, HumanRendering)


def test_a_wrong_action_or_name_is_explained() -> None:
    environment = gym.make("diprl.tasks.mujoco:diprl/Pusher2D-v0", disable_env_checker=True)
    environment.reset(seed=0)
    with pytest.raises(DiprlError, match="shape"):
        environment.step(np.zeros(4))
    with pytest.raises(NotFiniteError, match="Pusher2D"):
        environment.step(np.full(3, np.nan))
    with pytest.raises(DiprlError, match="did you mean Pusher2D"):
        find_description("Pusher2d")
    with pytest.raises(DiprlError, match="render_mode"):
        MujocoEnvironment("Pusher2D", render_mode="ansi")

"""One door for names, ids, modules, objects and factories; and every task through one contract."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import jax.numpy as jnp
import numpy as np
import pytest
from tests.counters import Counter

from diprl.errors import DiprlError
from diprl.program import Blend, Program
from diprl.tasks.mujoco.tasks import mujoco_tasks
from diprl.tasks.registry import TASKS, load_task, networks_of


@pytest.mark.parametrize("name", sorted(TASKS.keys() - mujoco_tasks().keys()))
def test_every_task_keeps_the_contract(name: str) -> None:
    task = load_task(name)
    environment = task.reference()
    observation, _ = environment.reset(seed=0)
    view = task.view(np.asarray(observation)[None])
    assert task.name == name
    assert view.shape == (1, task.layout.size)
    assert view.dtype == np.float32
    assert task.layout.features == len(task.signature.features) <= task.layout.critic
    lows = np.array([feature.low for feature in task.signature.features], np.float32)
    highs = np.array([feature.high for feature in task.signature.features], np.float32)
    assert np.all((lows <= view[0, : len(lows)]) & (view[0, : len(lows)] <= highs))
    environment.close()
    if task.twin is not None:
        twin = task.twin()
        features = twin.observe(twin.reset(jnp.full(twin.reset_size, 0.5)))
        assert features.shape == (task.layout.features,)
        assert twin.horizon == task.horizon


def test_a_name_without_version_means_the_task() -> None:
    assert load_task("LunarLander").name == "LunarLander-v3"
    assert load_task("MountainCar").potential is not None


def test_an_own_id_means_the_task_with_its_primitives() -> None:
    assert load_task("diprl/Pusher2D-v0") is load_task("Pusher2D")
    plain = load_task("diprl.tasks.mujoco:diprl/Pusher2D-v0")
    assert not plain.layout.primitives


def test_a_changed_environment_has_no_twin() -> None:
    task = load_task("CartPole-v1", env_kwargs={"sutton_barto_reward": True})
    assert task.twin is None
    assert task.signature == load_task("CartPole-v1").signature
    environment = task.reference()
    environment.reset(seed=0)
    assert environment.step(0)[1] == 0.0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("CartPol-v1", "unknown task 'CartPol-v1': did you mean CartPole-v1"),
        ("DoorKey-6x7", "DoorKey-6x6"),
        ("no_such_module:Thing-v0", "the module 'no_such_module' cannot be imported"),
        (3, "a task is a name, an environment or a function that makes one, not int"),
        (dict, "which is not a gymnasium.Env"),
    ],
)
def test_what_is_no_task_is_refused(name: Any, words: str) -> None:
    with pytest.raises(DiprlError, match=words):
        load_task(name)


def test_own_tasks_refuse_options_of_other_environments() -> None:
    with pytest.raises(DiprlError, match="DoorKey-6x6 takes no env_kwargs"):
        load_task("DoorKey-6x6", env_kwargs={"size": 9})


def test_a_module_registers_before_its_id_is_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_module.py").write_text(
        "import gymnasium\n"
        "gymnasium.register('Their-v0', 'gymnasium.envs.classic_control:PendulumEnv', max_episode_steps=7)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    task = load_task("their_module:Their-v0")
    assert (task.name, task.horizon) == ("Their-v0", 7)


def test_an_object_is_rebuilt_with_its_arguments_and_wrappers() -> None:
    given = gym.wrappers.TransformReward(gym.make("CartPole-v1", max_episode_steps=9), float)
    task = load_task(given)
    assert (task.name, task.horizon) == ("CartPole-v1", 9)
    assert task.reference() is not task.reference()


def test_an_unregistered_object_is_copied() -> None:
    given = Counter(end=4)
    task = load_task(given)
    environment = task.reference()
    environment.reset(seed=0)
    assert [environment.step(0)[2] for _ in range(4)] == [False, False, False, True]
    assert task.name == "Counter"
    assert not hasattr(given, "count")
    with pytest.raises(DiprlError, match="made already, too late for"):
        task.reference(render_mode="rgb_array")


class Locked(gym.Wrapper[Any, Any, Any, Any]):
    """A wrapper that Gymnasium cannot rebuild and Python cannot copy."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Locked":
        raise TypeError("locked")


def test_an_object_that_cannot_be_copied_is_refused() -> None:
    with pytest.raises(DiprlError, match=r"cannot be copied \(TypeError: locked\): pass a function that makes it"):
        load_task(Locked(gym.make("CartPole-v1")))


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any, **__: Any) -> None:
        raise gym.error.DependencyNotInstalled("Box2D is not installed, you can install it by run `pip install swig`")

    monkeypatch.setattr(gym, "make", missing)
    with pytest.raises(DiprlError, match=r"pip install 'diprl\[box2d\]'"):
        load_task("LunarLander", env_kwargs={"gravity": -9.0})


@pytest.mark.parametrize("name", mujoco_tasks())
def test_every_task_with_primitives_brings_their_networks(name: str) -> None:
    task = load_task(name)
    program = Program(task.signature, Blend((1.0, *[0.0] * (task.layout.primitives - 1))), name)
    assert tuple(network.name for network in networks_of(program)) == task.signature.actions.names
    assert networks_of(replace(program, task="")) == networks_of(replace(program, task="CartPole-v1")) == ()


def test_tasks_load_where_unix_has_no_say() -> None:
    """Windows has neither these modules nor these signals."""
    program = (
        "import signal, sys\n"
        "sys.modules |= dict.fromkeys(('fcntl', 'pwd', 'grp', 'resource', 'termios'))\n"
        "for name in ('SIGALRM', 'SIGKILL', 'SIGHUP', 'setitimer', 'ITIMER_REAL'): delattr(signal, name)\n"
        "import diprl.tasks.registry, diprl.tasks.batches.choose, diprl.tasks.batches.guard\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


def test_tasks_load_without_jax() -> None:
    program = (
        "import sys; from diprl.tasks.registry import load_task; "
        f"[load_task(name) for name in {list(TASKS)}]; print('jax' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip().splitlines()[-1] == "False"


@pytest.mark.parametrize(
    ("name", "module"), [("highway-fast-v0", "highway_env"), ("FetchReach-v4", "gymnasium_robotics")]
)
def test_ids_of_other_packages_are_told_how_to_be_named(name: str, module: str) -> None:
    with pytest.raises(DiprlError, match=f"name it {module}:{name}"):
        load_task(name)

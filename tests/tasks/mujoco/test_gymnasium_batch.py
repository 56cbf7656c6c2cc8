"""Gymnasium's MuJoCo ids in one batch: the same numbers as one by one, and only where nothing was changed."""

from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from diprl.arena import reference
from diprl.errors import NotFiniteError
from diprl.tasks.base import Environments, Task
from diprl.tasks.batches.choose import make_environments
from diprl.tasks.batches.guard import guarded
from diprl.tasks.batches.sync import SyncEnvironments
from diprl.tasks.mujoco import gymnasium_batch
from diprl.tasks.mujoco.gymnasium_batch import GymnasiumEnvironments, rule_of
from diprl.tasks.mujoco.gymnasium_rules import RULES
from diprl.tasks.registry import load_task

pytest.importorskip("mujoco")

IDS = [spec.id for spec in gym.registry.values() if str(spec.entry_point).rpartition("mujoco.")[2] in RULES]
MORTAL = ("Hopper-v5", "Walker2d-v5", "Ant-v5", "Humanoid-v5", "InvertedPendulum-v5", "InvertedDoublePendulum-v5")
COUNT = 3


def batch(task: Task, num_envs: int = COUNT) -> GymnasiumEnvironments:
    made = make_environments(task, num_envs)
    assert isinstance(made, GymnasiumEnvironments)
    return made


def history(environments: Environments, task: Task, steps: int) -> list[np.ndarray]:
    """Every number that a batch gives for random actions, some of them out of bounds, some small."""
    generator = np.random.default_rng(0)
    seen: list[Any] = [environments.reset(3)]
    size = (environments.num_envs, len(task.signature.actions.names))
    for index in range(steps):
        wild = 2.0 if index % 80 < 40 else 0.2
        seen += environments.step(generator.normal(size=size).astype(np.float32) * wild)[:5]
    environments.close()
    return seen


def test_every_mujoco_id_of_the_latest_version_has_a_rule() -> None:
    latest = [name for name, spec in gym.registry.items() if ".mujoco." in str(spec.entry_point) and spec.version == 5]
    assert sorted(IDS) == sorted(latest)
    assert len(IDS) == len(RULES)


@pytest.mark.parametrize("horizon", [4, 1000])
@pytest.mark.parametrize("name", IDS)
def test_a_batch_gives_what_gymnasium_gives_bit_for_bit(name: str, horizon: int) -> None:
    """Through falls, time limits and the resets after them."""
    task: Any = load_task(name)
    task = replace(task, horizon=min(horizon, task.horizon), reference=replace(task.reference, horizon=horizon))
    ours, theirs = history(batch(task), task, 160), history(SyncEnvironments(task, COUNT), task, 160)
    for ours_now, theirs_now in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(ours_now, theirs_now)
        assert ours_now.dtype == theirs_now.dtype
    terminated, truncated = np.array(ours[4::5]), np.array(ours[5::5])
    assert truncated.any() == (horizon < 160 or task.horizon < 160)
    assert horizon < 160 or terminated.any() == (name in MORTAL)


def test_the_number_of_cores_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    task, histories = load_task("Hopper-v5"), []
    for cores in (1, 2, 4):
        monkeypatch.setattr(gymnasium_batch, "available_cores", lambda cores=cores: cores)
        histories.append(history(batch(task, 4), task, 60))
    for columns in zip(*histories, strict=True):
        np.testing.assert_array_equal(columns[0], columns[1])
        np.testing.assert_array_equal(columns[0], columns[2])


def test_seeds_repeat_episodes_and_change_them() -> None:
    environments = batch(load_task("Reacher-v5"))
    first = environments.reset(1)
    environments.step(np.ones((COUNT, 2)))
    assert not np.array_equal(environments.reset(2), first)
    np.testing.assert_array_equal(environments.reset(1), first)
    environments.close()


def test_names_and_horizons_of_a_task_file_keep_the_batch() -> None:
    names = [f"n{index}" for index in range(11)]
    environments = batch(load_task("Hopper-v5", feature_names=names))
    assert environments.reset(0).shape == (COUNT, 11)
    environments.close()


class Louder(gym.RewardWrapper[Any, Any]):
    def reward(self, reward: Any) -> float:
        return 2.0 * float(reward)


def louder(**options: Any) -> gym.Env[Any, Any]:
    return Louder(gym.make("Hopper-v5", **options))


def test_whatever_was_changed_is_stepped_as_it_is() -> None:
    changed = {
        "arguments": load_task("Hopper-v5", env_kwargs={"healthy_reward": 2.0}),
        "a function": load_task(louder),
        "an object": load_task(gym.make("Hopper-v5")),
        "another version": load_task("Hopper-v4"),
        "arguments of make": load_task(partial(gym.make, "Hopper-v5", ctrl_cost_weight=1.0)),
        "a time-out": guarded(load_task("Hopper-v5"), 5.0),
        "another simulator": load_task("LunarLander-v3"),
        "a twin": load_task("CartPole-v1"),
    }
    assert {name: rule_of(task) for name, task in changed.items()} == dict.fromkeys(changed)
    assert rule_of(load_task("Hopper-v5")) is not None


def test_an_id_that_was_registered_anew_is_stepped_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    task, spec = load_task("Hopper-v5"), gym.registry["Hopper-v5"]
    monkeypatch.setitem(gym.registry, "Hopper-v5", replace(spec, kwargs={"ctrl_cost_weight": 1.0}))
    assert rule_of(task) is None
    monkeypatch.setitem(gym.registry, "Hopper-v5", replace(spec, entry_point=f"{__name__}:Louder"))
    assert rule_of(task) is None


def test_a_broken_world_is_named() -> None:
    environments = batch(load_task("HalfCheetah-v5"))
    environments.reset(0)
    with pytest.raises(
        NotFiniteError, match="HalfCheetah-v5: environment 1, step 1, returned a reward that is not fin"
    ):
        environments.step(np.array([[0.0] * 6, [np.nan] * 6, [0.0] * 6]))
    environments.close()


@pytest.mark.parametrize("name", ["Hopper-v5", "Reacher-v5"])
def test_scores_are_those_of_gymnasium_one_by_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More episodes than places, so that places begin new ones and then fall idle; float64 returns to the last bit."""
    task, generator = load_task(name), np.random.default_rng(0)
    weights = generator.normal(size=(task.layout.features, len(task.signature.actions.names)))

    def act(views: np.ndarray, plays: np.ndarray) -> np.ndarray:
        return views @ weights

    monkeypatch.setattr(reference, "PARALLEL_EPISODES", 4)
    batched = reference.play(task, act, range(7, 17))
    monkeypatch.setattr(gymnasium_batch, "rule_of", lambda task: None)
    one_by_one = reference.play(task, act, range(7, 17))
    np.testing.assert_array_equal(batched.returns, one_by_one.returns)
    assert batched.steps == one_by_one.steps
    assert len(set(batched.returns)) == 10

"""Batches of environments: what each view means when episodes end, and what happens when things break."""

import multiprocessing
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from tests.counters import Counter, Faulty
from tests.probes import PROBES

from diprl.errors import DiprlError, NotFiniteError
from diprl.tasks.base import Environments, Task
from diprl.tasks.batches import choose
from diprl.tasks.batches.choose import make_environments
from diprl.tasks.batches.sync import SyncEnvironments
from diprl.tasks.batches.workers import WorkerEnvironments
from diprl.tasks.registry import load_task

Maker = Callable[[Task, int], Environments]

BEFORE: set[int | None] = set()


@pytest.fixture(autouse=True, scope="module")
def _children_before() -> None:
    BEFORE.update(child.pid for child in multiprocessing.active_children())


def new_children() -> list[multiprocessing.Process]:
    """Worker processes that were not there before these tests, such as those that keep a guarded environment."""
    return [child for child in multiprocessing.active_children() if child.pid not in BEFORE]  # type: ignore[misc]


@pytest.fixture(params=["sync", "async"])
def making(request: pytest.FixtureRequest) -> Iterator[Maker]:
    """Makes batches on each backend, and finds no process left when they are closed."""
    made: list[Environments] = []

    def make(task: Task, num_envs: int) -> Environments:
        made.append(make_environments(task, num_envs, request.param))
        return made[-1]

    yield make
    for environments in made:
        environments.close()
    assert not new_children()


def truncating(end: int, limit: int) -> gym.Env[Any, Any]:
    return gym.wrappers.TimeLimit(Counter(end), limit)


def test_views_around_the_end_of_an_episode(making: Maker) -> None:
    environments = making(load_task(partial(Counter, end=3)), 3)
    first = environments.reset(5)
    assert len(set(first[:, 0])) == 3
    for count in (1, 2):
        step = environments.step(np.zeros(3, int))
        np.testing.assert_array_equal(step.view, np.column_stack([first[:, 0], [count] * 3]))
        np.testing.assert_array_equal(step.view, step.next_view)
        np.testing.assert_array_equal(step.reward, [count] * 3)
        assert not step.terminated.any()
    step = environments.step(np.ones(3, int))
    np.testing.assert_array_equal(step.next_view, np.column_stack([first[:, 0], [3] * 3]))
    assert step.terminated.all()
    assert not step.truncated.any()
    np.testing.assert_array_equal(step.view[:, 1], 0)
    assert not set(step.view[:, 0]) & set(first[:, 0])
    following = environments.step(np.zeros(3, int))
    np.testing.assert_array_equal(following.reward, 1)
    np.testing.assert_array_equal(following.next_view[:, 0], step.view[:, 0])
    assert following.view.dtype == following.reward.dtype == np.float32


def test_time_limits_truncate_and_do_not_terminate(making: Maker) -> None:
    environments = making(load_task(partial(truncating, 100, 4)), 2)
    environments.reset(0)
    for _ in range(4):
        step = environments.step(np.zeros(2, int))
    assert step.truncated.all()
    assert not step.terminated.any()
    np.testing.assert_array_equal(step.next_view[:, 1], 4)
    np.testing.assert_array_equal(step.view[:, 1], 0)


def test_info_carries_distance_and_success(making: Maker) -> None:
    environments = making(load_task(partial(Counter, end=2)), 2)
    environments.reset(0)
    environments.step(np.zeros(2, int))
    info = environments.step(np.zeros(2, int)).info
    np.testing.assert_array_equal(info["distance"], [20.0, 20.0])
    np.testing.assert_array_equal(info["is_success"], [1.0, 1.0])


def test_worker_count_changes_nothing_and_seeds_change_everything() -> None:
    task = load_task("CartPole-v1")
    batches = [SyncEnvironments(task, 5), WorkerEnvironments(task, 5, workers=2), WorkerEnvironments(task, 5, 3)]
    actions = np.random.default_rng(0).integers(0, 2, (60, 5))
    histories = []
    for environments in batches:
        views = [environments.reset(11)]
        for action in actions:
            step = environments.step(action)
            views += [step.view, step.next_view]
        histories.append(np.array(views))
        assert not np.array_equal(environments.reset(12), views[0])
        np.testing.assert_array_equal(environments.reset(11), views[0])
        environments.close()
    np.testing.assert_array_equal(histories[0], histories[1])
    np.testing.assert_array_equal(histories[0], histories[2])


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("raises", DiprlError, "environment 0, step 3, failed in a step: ZeroDivisionError"),
        ("nan observation", NotFiniteError, "environment 0, step 3, returned an observation that is not finite"),
        ("infinite reward", NotFiniteError, "environment 0, step 3, returned the reward inf"),
        ("wrong shape", DiprlError, r"shape \(1,\) instead of \(2,\)"),
        ("wrong type", DiprlError, "features cannot be computed"),
        ("no reward", DiprlError, "environment 0, step 3, failed in a step: TypeError"),
    ],
)
def test_faults_are_named(fault: str, kind: type[DiprlError], words: str) -> None:
    environments = SyncEnvironments(load_task(partial(Faulty, fault)), 2)
    environments.reset(0)
    environments.step(np.zeros(2, int))
    environments.step(np.zeros(2, int))
    with pytest.raises(kind, match=words):
        environments.step(np.zeros(2, int))


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("raises", DiprlError, "Faulty: environment 0, step 3, failed in a step: ZeroDivisionError"),
        ("nan observation", NotFiniteError, "Faulty: environment 0, step 3"),
        ("dies", DiprlError, "Faulty: the worker process of environments 0 to 0 died in step 3"),
        ("hangs", DiprlError, "Faulty took more than 2 seconds in step 3"),
    ],
)
def test_faults_in_workers_end_all_workers(fault: str, kind: type[DiprlError], words: str) -> None:
    timeout = 1.0 if fault == "hangs" else None
    environments = WorkerEnvironments(load_task(partial(Faulty, fault)), 2, workers=2, timeout=timeout)
    environments.reset(0)
    environments.step(np.zeros(2, int))
    environments.step(np.zeros(2, int))
    with pytest.raises(kind, match=words):
        environments.step(np.zeros(2, int))
    assert not new_children()
    with pytest.raises(DiprlError, match="are closed"):
        environments.step(np.zeros(2, int))


def test_what_cannot_be_sent_to_workers_is_stepped_here() -> None:
    unsendable = load_task(Counter, features=[("lock", "", partial(_with_lock, threading.Lock()))])
    with pytest.raises(DiprlError, match="Counter cannot be sent to worker processes"):
        WorkerEnvironments(unsendable, 2)
    assert not new_children()
    assert SyncEnvironments(unsendable, 2).reset(0).shape == (2, 1)


def _with_lock(lock: Any, observation: Any) -> float:
    with lock:
        return float(observation[0])


def test_auto_explains_its_choice_and_bad_requests_are_refused() -> None:
    environments = make_environments(PROBES["ValueProbe"], 1)
    assert isinstance(environments, SyncEnvironments)
    with pytest.raises(DiprlError, match="did you mean async"):
        make_environments(PROBES["ValueProbe"], 2, "asinc")  # type: ignore[arg-type]
    with pytest.raises(DiprlError, match="num_envs is 0"):
        make_environments(PROBES["ValueProbe"], 0)
    with pytest.raises(DiprlError, match="EnvPool has no environment for ValueProbe"):
        make_environments(PROBES["ValueProbe"], 2, "envpool")


@pytest.mark.parametrize("name", PROBES)
def test_probes_pay_what_they_promise(name: str) -> None:
    task = PROBES[name]
    environments = SyncEnvironments(task, 16)
    x = environments.reset(3)[:, 0]
    best = {"ThresholdProbe": x > 0.3, "NestedProbe": np.abs(x) < 0.4, "ConstantProbe": np.full(16, 2)}
    actions = best.get(name, np.zeros(16)).astype(int)
    step = environments.step(actions)
    expected = {"ValueProbe": x, "DiscountProbe": np.zeros(16)}.get(name, np.ones(16))
    np.testing.assert_allclose(step.reward, expected)
    np.testing.assert_array_equal(step.terminated, name != "DiscountProbe")
    if name == "DiscountProbe":
        step = environments.step(actions)
        np.testing.assert_array_equal(step.reward, 1)
        assert step.terminated.all()


@pytest.mark.parametrize(
    ("shared", "alone", "winner"),
    [
        ([0.5, 0.5, 5.0], [1.0, 1.0, 1.0], WorkerEnvironments),
        ([0.5, 1.2, 1.2], [1.0, 1.0, 1.0], SyncEnvironments),
        ([0.95, 0.95, 0.95], [1.0, 1.0, 1.0], SyncEnvironments),
    ],
)
def test_worker_processes_have_to_win_most_laps_clearly(
    monkeypatch: pytest.MonkeyPatch, shared: list[float], alone: list[float], winner: type[Any]
) -> None:
    times = {WorkerEnvironments: iter(shared), SyncEnvironments: iter([1.0, *alone])}
    monkeypatch.setattr(choose, "available_cores", lambda: 2)
    monkeypatch.setattr(choose, "_batch_seconds", lambda environments, task: next(times[type(environments)]))
    environments = make_environments(load_task(partial(Counter, end=3)), 2)
    assert type(environments) is winner
    environments.close()
    assert not new_children()

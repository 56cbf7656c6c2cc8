"""EnvPool's batch against the meaning of a step; runs where the optional package is installed."""

from dataclasses import replace

import numpy as np
import pytest

from diprl.tasks.batches.choose import make_environments
from diprl.tasks.batches.envpool import EnvPoolEnvironments
from diprl.tasks.batches.sync import SyncEnvironments
from diprl.tasks.registry import load_task

pytest.importorskip("envpool")


def test_time_limits_truncate_and_episodes_restart_at_once() -> None:
    task = replace(load_task("LunarLander"), horizon=20)
    environments = make_environments(task, 3, "envpool")
    first = environments.reset(4)
    assert first.shape == (3, 8)
    np.testing.assert_array_equal(environments.reset(4), first)
    for index in range(1, 41):
        step = environments.step(np.array([0, 2, 3]))
        ended = index % 20 == 0
        assert step.truncated.all() == ended
        assert not step.terminated.any()
        assert np.array_equal(step.view, step.next_view) != ended
    assert np.all(np.abs(step.view[:, 1] - 1.41) < 0.05)
    environments.close()


def test_falling_terminates_with_the_crash_in_view() -> None:
    environments = make_environments(load_task("LunarLander"), 4)
    assert isinstance(environments, EnvPoolEnvironments)
    environments.reset(0)
    crashes = 0
    for _ in range(150):
        step = environments.step(np.zeros(4, int))
        crashes += int(step.terminated.sum())
        assert np.all(step.next_view[step.terminated, 1] < 0.5)
        assert np.all(step.view[step.terminated, 1] > 1.3)
        assert np.all(step.reward[step.terminated] <= -90)
    assert crashes >= 4


def test_returns_are_those_of_the_reference() -> None:
    task, totals = load_task("LunarLander"), []
    for environments in (make_environments(task, 32, "envpool"), SyncEnvironments(task, 32)):
        environments.reset(1)
        generator, returns, running = np.random.default_rng(0), [], np.zeros(32)
        while len(returns) < 300:
            step = environments.step(generator.integers(0, 4, 32))
            running += step.reward
            ended = step.terminated | step.truncated
            returns += running[ended].tolist()
            running[ended] = 0.0
        totals.append(np.array(returns))
        environments.close()
    error = np.hypot(*(total.std() / len(total) ** 0.5 for total in totals))
    assert abs(totals[0].mean() - totals[1].mean()) < 4 * error

"""Both collectors hand over the same trajectory of the same environment."""

from dataclasses import replace
from typing import Any

import gymnasium as gym
import jax
import numpy as np
import pytest
from tests.probes import ProbeState, TwinEnvironment, probe_task
from tests.small import first_training_state

from diprl.methods.agents import tree_agent
from diprl.tasks.base import Task
from diprl.tasks.batches.sync import SyncEnvironments
from diprl.train import schedule
from diprl.train.collectors import HostCollector
from diprl.train.rollout import collect, uniforms
from diprl.train.settings import Settings
from diprl.train.trajectory import Episodes, Trajectory

STEPS, HORIZON = 7, 3
SETTINGS = Settings().with_values(
    total_timesteps=1000, num_envs=2, num_steps=STEPS, minibatch_size=14, num_epochs=1, hidden_size=4, max_depth=2
)


class Line:
    """Walks along x = 0, 1, 2, … from the same start, paying x; terminates at `end` or is cut at the horizon."""

    reset_size, horizon = 1, HORIZON

    def __init__(self, end: int) -> None:
        self.end = end

    def reset(self, uniform: Any) -> ProbeState:
        return ProbeState(0.0 * uniform[0], jax.numpy.int32(0))

    def observe(self, state: ProbeState) -> Any:
        return jax.numpy.stack([state.x])

    def step(self, state: ProbeState, action: Any) -> tuple[ProbeState, Any, Any]:
        following = ProbeState(state.x + 1.0, state.steps + 1)
        return following, following.x + 0.0 * action, following.steps >= self.end


def line_task(end: int) -> Task:
    line = Line(end)
    return replace(
        probe_task(f"Line{end}", line, ("only",)),
        reference=lambda: gym.wrappers.TimeLimit(TwinEnvironment(line, 1), HORIZON),
    )


def from_twin(task: Task) -> tuple[Trajectory, Episodes]:
    engine, state = first_training_state(task, SETTINGS, 0, tree_agent)
    heat = schedule.temperatures(SETTINGS.numbers(), 0.0)
    run = jax.jit(lambda state, key: collect(engine.twin, engine.agent(state), state.running, heat, STEPS, key=key))
    _, trajectory, episodes = run(state, jax.random.key(0))
    return jax.device_get((trajectory, episodes))


def from_host(task: Task) -> tuple[Trajectory, Episodes]:
    task = replace(task, twin=None)
    engine, state = first_training_state(task, SETTINGS, 0, tree_agent)
    collector = HostCollector(engine, SETTINGS, SyncEnvironments(task, SETTINGS.ppo.num_envs), seed=0)
    collector.view = collector.environments.reset(0)
    heat = schedule.temperatures(SETTINGS.numbers(), 0.0)
    trajectory, episodes = collector.collect(state, heat, collector.noise(0))
    collector.close()
    return jax.device_get((trajectory, episodes))


@pytest.mark.parametrize("end", [2, 99])
def test_twin_and_host_see_the_same(end: int) -> None:
    task = line_task(end)
    (twin, twin_episodes), (host, host_episodes) = from_twin(task), from_host(task)
    for name, mine, other in zip(Trajectory._fields, twin, host, strict=True):
        np.testing.assert_array_equal(mine, other, err_msg=name)
    assert twin_episodes == host_episodes


def test_termination_and_time_limit_are_told_apart() -> None:
    ended, _ = from_twin(line_task(2))
    np.testing.assert_array_equal(ended.terminated[:, 0], [False, True] * 3 + [False])
    np.testing.assert_array_equal(ended.done, ended.terminated)
    cut, episodes = from_twin(line_task(99))
    assert not cut.terminated.any()
    np.testing.assert_array_equal(cut.done[:, 0], [False, False, True] * 2 + [False])
    np.testing.assert_array_equal(cut.view[:, 0, 0], [0, 1, 2, 0, 1, 2, 0])
    np.testing.assert_array_equal(cut.next_view[:, 0, 0], [1, 2, 3, 1, 2, 3, 1])
    assert (float(episodes.count), float(episodes.total_return), float(episodes.total_length)) == (4, 24, 12)


def test_numbers_drawn_together_are_those_drawn_one_by_one() -> None:
    shapes, key = [(7, 2, 1), (7, 2, 5)], jax.random.key(3)
    for drawn, own_key, shape in zip(uniforms(shapes, key=key), jax.random.split(key), shapes, strict=True):
        np.testing.assert_array_equal(drawn, jax.random.uniform(own_key, shape))

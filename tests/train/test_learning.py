"""Learning probes: tiny environments with a known answer, through the class that users have."""

import jax
import numpy as np
import pytest
from jax import Array
from tests.probes import INNER, THRESHOLD, Probe, ProbeState, probe_task
from tests.small import SMALL, first_training_state, probe, small_settings

from diprl import DiPRL
from diprl.methods.agents import tree_agent
from diprl.program import Act, If, Program
from diprl.program.ast import conditions
from diprl.tasks.base import Task
from diprl.train.collectors import TwinCollector
from diprl.train.loop import train

GRID = np.linspace(-0.99, 0.99, 400)[:, None]


def learnt(name: str, steps: int, seed: int = 0) -> DiPRL:
    return DiPRL(name, seed=seed, learning_rate=0.02, **SMALL).learn(steps)


def thresholds(program: Program) -> list[float]:
    return [-condition.bias / condition.weights[0] for condition in conditions(program.root)]


def changes(program: Program) -> list[float]:
    """Where the action changes along x."""
    actions = program.act_batch(GRID)
    return GRID[np.flatnonzero(np.diff(actions)), 0].tolist()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_threshold(seed: int) -> None:
    model = learnt("ThresholdProbe", 20_000, seed)
    assert changes(model.program) == [pytest.approx(THRESHOLD, abs=0.05)]
    assert min(abs(found - THRESHOLD) for found in thresholds(model.program)) < 0.05
    assert model.program.act([-0.5]) == 0
    assert model.program.act([0.8]) == 1
    assert model.score(200).mean > 0.95


def test_a_run_ends_discrete() -> None:
    model = learnt("ThresholdProbe", 20_000)
    assert model.gap.entropy < 1e-3
    assert model.gap.mass < 1e-3
    assert abs(model.gap.total) < 0.02


def test_a_short_run_ends_discrete_too() -> None:
    model = learnt("ThresholdProbe", 1_000)
    assert model.num_timesteps == 1024
    assert model.gap.mass < 1e-3


def test_a_nested_if() -> None:
    program = learnt("NestedProbe", 40_000).program
    assert (program.depth, program.conditions) == (3, 2)
    assert sorted(thresholds(program)) == [pytest.approx(-INNER, abs=0.08), pytest.approx(INNER, abs=0.08)]
    assert program.act_batch([[-0.8], [0.0], [0.8]]).tolist() == [0, 1, 0]


def test_a_constant_action() -> None:
    model = learnt("ConstantProbe", 8_000, seed=1)
    assert set(model.program.act_batch(GRID)) == {2}
    assert model.score(50).mean == 1.0
    assert model.program_at(1).root == Act(2)
    assert isinstance(model.program_at(2).root, If)


def values(task: Task, gamma: float, views: list[float], steps: int = 40_000) -> list[float]:
    """What the critic has learnt to expect."""
    settings = small_settings(total_timesteps=steps, gamma=gamma, learning_rate=0.01)
    engine, state = first_training_state(task, settings, 0, tree_agent)
    state = train(TwinCollector(engine, settings), state, lambda _: None, reports=50)
    agent = engine.compiled_agent(state)
    seen = agent.see(jax.numpy.array(views, np.float32)[:, None])
    return [float(value) for value in jax.jit(jax.vmap(agent.value))(seen)]


def test_the_future_is_discounted() -> None:
    found = values(probe("DiscountProbe"), 0.6, [0.0, 1.0])
    assert found == [pytest.approx(0.6, abs=0.05), pytest.approx(1.0, abs=0.05)]


class Endless(Probe):
    """Never ends by itself."""

    def step(self, state: ProbeState, action: Array) -> tuple[ProbeState, Array, Array]:
        following, reward, terminated = super().step(state, action)
        return following, reward, terminated & False


def test_a_time_limit_is_not_the_end() -> None:
    """The value of x at every step for ever is x / (1 − γ), however short the episodes."""
    twin = Endless(lambda x, action: x + 0.0 * action, horizon=4)
    found = values(probe_task("EndlessProbe", twin, ("only",)), 0.8, [-0.5, 0.0, 0.5])
    assert found == [pytest.approx(5.0 * x, abs=0.3) for x in (-0.5, 0.0, 0.5)]

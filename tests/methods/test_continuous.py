"""Programs for continuous actions: what is extracted acts as the hardened policy does, on primitives and on motors."""

from functools import partial

import jax.random as jr
import numpy as np
import pytest

from diprl.methods import diprl
from diprl.methods.acting import agent_act
from diprl.methods.agents import tree_agent
from diprl.methods.registry import settings_for
from diprl.policy.base import Temperatures
from diprl.program.ast import Affine, Blend, If, Node
from diprl.runner import Plan, run
from diprl.tasks.registry import load_task

TINY = {
    "total_timesteps": 96, "num_envs": 4, "num_steps": 8, "minibatch_size": 16, "num_epochs": 1, "hidden_size": 8,
    "max_depth": 3, "polish_share": 0.0,
}  # fmt: skip


def leaves(node: Node) -> list[Node]:
    return [*leaves(node.then), *leaves(node.orelse)] if isinstance(node, If) else [node]


@pytest.mark.parametrize(("name", "terminal"), [("Pusher2D", Blend), ("Pendulum-v1", Affine)])
def test_the_program_acts_as_the_hardened_policy(
    name: str, terminal: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diprl, "measure_gap", partial(diprl.measure_gap, episodes=2))
    task = load_task(name)
    config = settings_for("diprl", "default", task).with_values(**TINY)
    finished = run(Plan(task, "diprl", "default", config, seed=1000, episodes=2))
    program = finished.outcome.program
    assert program is not None
    assert all(isinstance(leaf, terminal) for leaf in leaves(program.root))
    views = np.random.default_rng(0).normal(0.0, 2.0, (200, task.layout.size)).astype(np.float32)
    assert np.allclose(finished.outcome.act(views), agent_act(finished.outcome.trained)(views), atol=1e-4)


@pytest.mark.parametrize("chooses", [False, True])
def test_terminals_that_choose_are_one_primitive_each(chooses: bool) -> None:
    task = load_task("Pusher2D")
    config = settings_for("diprl", "default", task).with_values(choose_primitives=chooses)
    agent = tree_agent(task, config, key=jr.key(0))
    program = diprl.read_off(task, agent, Temperatures())
    blended = [leaf for leaf in leaves(program.root) if isinstance(leaf, Blend) and max(leaf.weights) < 1.0]
    assert bool(blended) is not chooses


def test_settings_follow_the_kind_of_actions() -> None:
    pendulum, pusher, cart = (load_task(name) for name in ("Pendulum-v1", "Pusher2D", "CartPole-v1"))
    assert [task.continuous for task in (pendulum, pusher, cart)] == [True, True, False]
    chosen = {task.name: settings_for("diprl", "default", task) for task in (pendulum, pusher, cart)}
    assert chosen["Pendulum-v1"].deviation == 1.0
    assert chosen["Pusher2D"].deviation == 0.3
    assert chosen["CartPole-v1"].noise_correlation == 0.0
    assert settings_for("diprl", "paper", pendulum).noise_correlation == 0.0

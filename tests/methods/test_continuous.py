"""Programs for continuous actions: what is extracted acts as the hardened policy does, on primitives and on motors."""

import jax.random as jr
import numpy as np
import pytest
from tests.small import small_session

from diprl.arena import episodes
from diprl.arena.reference import program_act
from diprl.extract import read_off
from diprl.methods import ladder
from diprl.methods.agents import tree_agent
from diprl.methods.presets import settings_for
from diprl.methods.registry import run
from diprl.policy.base import Temperatures
from diprl.program.ast import Affine, Blend, If, Node
from diprl.runs.trainer import acting
from diprl.tasks.registry import load_task

TINY = {
    "total_timesteps": 96, "num_envs": 4, "num_steps": 8, "minibatch_size": 16, "num_epochs": 1, "hidden_size": 8,
    "max_depth": 3, "polish_share": 0.0,
}  # fmt: skip


def leaves(node: Node) -> list[Node]:
    return [*leaves(node.then), *leaves(node.orelse)] if isinstance(node, If) else [node]


@pytest.mark.parametrize(("name", "terminal"), [("Pusher2D", Blend), ("Pendulum-v1", Affine)])
def test_the_program_acts_as_the_hardened_policy(name: str, terminal: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "GAP", episodes.GAP._replace(on_reference=2))
    task = load_task(name)
    result = run(small_session(task, settings_for("diprl", "default", task, **TINY), seed=1000, episodes=2))
    program, trained = result.program, result.trained
    assert program is not None
    assert trained is not None
    assert all(isinstance(leaf, terminal) for leaf in leaves(program.root))
    views = np.random.default_rng(0).normal(0.0, 2.0, (200, task.layout.size)).astype(np.float32)
    assert np.allclose(program_act(task, program)(views), acting(task, trained, None)(views), atol=1e-4)


@pytest.mark.parametrize("chooses", [False, True])
def test_terminals_that_choose_are_one_primitive_each(chooses: bool) -> None:
    task = load_task("Pusher2D")
    settings = settings_for("diprl", "default", task, choose_primitives=chooses)
    agent = tree_agent(task, settings, key=jr.key(0))
    program = read_off(task, agent, Temperatures())
    blended = [leaf for leaf in leaves(program.root) if isinstance(leaf, Blend) and max(leaf.weights) < 1.0]
    assert bool(blended) is not chooses


def test_settings_follow_the_kind_of_actions() -> None:
    pendulum, pusher, cart = (load_task(name) for name in ("Pendulum-v1", "Pusher2D", "CartPole-v1"))
    assert [task.continuous for task in (pendulum, pusher, cart)] == [True, True, False]
    chosen = {task.name: settings_for("diprl", "default", task) for task in (pendulum, pusher, cart)}
    assert chosen["Pendulum-v1"].ppo.deviation == 0.5
    assert chosen["Pusher2D"].ppo.deviation == 0.3
    assert chosen["CartPole-v1"].ppo.noise_correlation == 0.0
    assert settings_for("diprl", "paper", pendulum).ppo.noise_correlation == 0.0
    composed = settings_for("diprl", "default", load_task("HalfCheetahHurdle-composed"))  # has none of its own
    assert composed.program.choose_primitives
    assert (composed.program.candidates, composed.ppo.deviation) == (1, 0.1)

"""pi-PRL's own steps: the budget, what extraction carries along, and how its phases are shown."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from tests.probes import PROBES
from tests.small import ROLLOUT, small_session, small_settings

from diprl.errors import DiprlError
from diprl.extract import extract
from diprl.methods.pi_prl import relaxed_again, split_budget, tuning_share
from diprl.methods.registry import run
from diprl.policy.agent import Agent, make_normaliser
from diprl.policy.base import Temperatures
from diprl.policy.derivation_tree import make_tree
from diprl.policy.mlp import make_mlp
from diprl.policy.terminals import BlendTerminals
from diprl.program.ast import Blend, terminals
from diprl.program.signature import Feature, Primitives, Signature
from diprl.runs.observers import Snapshot
from diprl.tasks.base import ViewLayout
from diprl.train.settings import Settings

WALK = Signature((Feature("x"), Feature("y")), Primitives(("up", "down"), (-1.0,), (1.0,)))


def blending_agent() -> Agent:
    """A relaxed program over two primitives that has seen some of the world."""
    terminals = BlendTerminals(0.3 * jr.normal(jr.key(0), (5, 2)), jnp.array([-1.5]))
    seen = make_normaliser(2).update(jr.normal(jr.key(1), (50, 2)) * jnp.array([3.0, 0.1]) + 1.0)
    tree = make_tree(2, 3, terminals, key=jr.key(2))
    return Agent(tree, make_mlp((2, 4, 1), 1.0, key=jr.key(3)), seen, ViewLayout(2, 2, 2, 1))


@pytest.mark.parametrize("softness", [0.25, 0.4])
def test_fine_tuning_begins_with_every_setting_of_the_search(softness: float) -> None:
    """The original changed the terminals' temperature from 0.25 to 0.5 on the way, and with it every blend."""
    agent, temperatures = jax.jit(blending_agent)(), Temperatures(terminal=softness)
    settings = Settings().with_values(terminal_temperature=softness, terminal_temperature_end=softness, max_depth=3)
    program = extract(agent, WALK, temperatures, depth=3)
    found: Any = SimpleNamespace(agent=agent)
    start = relaxed_again(program, found, settings)

    def shares(agent: Agent) -> np.ndarray:
        return np.asarray(jax.nn.softmax(agent.policy.terminals.logits / softness, axis=-1))  # type: ignore[attr-defined]

    printed = [leaf.weights for leaf in terminals(program.root) if isinstance(leaf, Blend)]
    in_use = [0, 1, 4]
    np.testing.assert_allclose(shares(agent)[in_use], printed, rtol=1e-5)
    np.testing.assert_allclose(shares(start)[in_use], printed, rtol=1e-5)
    np.testing.assert_allclose(start.policy.condition_weights, agent.policy.condition_weights, rtol=1e-4)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(start.policy.terminals.log_std, [-1.5])  # type: ignore[attr-defined]
    assert eqx.tree_equal((start.normaliser, start.critic), (agent.normaliser, agent.critic))
    assert float(start.policy.depth_probabilities()[2]) > 0.9999


def test_as_published_fine_tuning_begins_with_every_number_of_the_search() -> None:
    agent, settings = jax.jit(blending_agent)(), Settings().with_values(keep_action_weights=True, max_depth=3)
    agent = eqx.tree_at(lambda a: a.policy.architecture, agent, jnp.array([[0.0, 1.0], [2.0, 0.0]]))
    found: Any = SimpleNamespace(agent=agent, temperatures=Temperatures())
    start = relaxed_again(extract(agent, WALK, Temperatures()), found, settings)
    assert float(start.policy.depth_probabilities()[1]) > 0.9999, "the likeliest depth, and no other"
    numbers = lambda a: (a.policy.terminals, a.policy.condition_weights, a.policy.condition_bias, a.critic)  # noqa: E731
    assert eqx.tree_equal(numbers(start), numbers(agent))


def test_search_and_fine_tuning_use_the_whole_budget() -> None:
    sizes = {"total_timesteps": 100_000, "num_envs": 10, "num_steps": 100, "minibatch_size": 100}
    search, tuning = split_budget(Settings().with_values(**sizes, architecture_period=5), 0.2)
    assert (search.ppo.num_rollouts, tuning.ppo.num_rollouts) == (80, 20)
    assert (search.program.architecture_period, tuning.program.architecture_period) == (5, 0)


def test_a_budget_of_one_rollout_is_refused() -> None:
    with pytest.raises(DiprlError, match="total_timesteps 1000 is one rollout"):
        split_budget(Settings().with_values(total_timesteps=1000), 0.2)


def test_fine_tuning_takes_the_share_of_its_task() -> None:
    probe = PROBES["ThresholdProbe"]
    walk = replace(probe, signature=WALK)
    assert tuning_share(probe) == 0.2
    assert tuning_share(walk) == 0.5
    assert tuning_share(replace(walk, name="Pusher2D")) == 0.8


def test_observers_see_a_stage_as_part_of_the_run() -> None:
    seen: list[Snapshot] = []
    settings = small_settings(total_timesteps=10 * ROLLOUT)
    result = run(small_session(PROBES["ThresholdProbe"], settings, method="pi-prl", observers=(seen.append,)))
    assert [snapshot.steps for snapshot in seen] == [ROLLOUT * (index + 1) for index in range(10)]
    assert {snapshot.total_steps for snapshot in seen} == {10 * ROLLOUT}
    assert seen[-1].metrics["time/total_timesteps"] == 10 * ROLLOUT
    assert result.steps == {"relaxed_search": 8 * ROLLOUT, "fine_tuning": 2 * ROLLOUT}

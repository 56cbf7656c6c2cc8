"""VIPER's own steps: what the oracle is asked, which tree is kept, and what its program reads."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from tests.probes import PROBES, THRESHOLD

from diprl.methods.agents import neural_agent
from diprl.methods.viper import choices_of, select, tree_signature
from diprl.policy.base import Temperatures
from diprl.program.signature import Continuous, Primitives
from diprl.tasks.base import ViewLayout
from diprl.train.settings import Settings

TASK = PROBES["ThresholdProbe"]


def stump(threshold: float) -> Any:
    """Above the threshold the second action, else the first."""
    return SimpleNamespace(act=lambda views: (views[:, 0] > threshold).astype(int))


def test_selection_keeps_the_tree_that_scores_best() -> None:
    trees = [stump(threshold) for threshold in (-0.9, -0.3, THRESHOLD, 0.7, 0.95)]
    best, steps = select(TASK, trees, most_steps=1_000_000)
    assert best is trees[2]
    assert steps >= 3 * 240


def test_a_state_weighs_as_much_as_the_oracle_tells_its_actions_apart() -> None:
    agent = jax.jit(lambda key: neural_agent(TASK, Settings().with_values(hidden_size=4), key=key))(jr.key(0))
    views = np.linspace(-1.0, 1.0, 9, dtype=np.float32)[:, None]
    oracle: Any = SimpleNamespace(agent=agent)
    lesson = choices_of(oracle)(views)
    log_probability = jax.vmap(
        lambda view: jnp.log(agent.distribution(agent.see(view), Temperatures()).probabilities)  # type: ignore[union-attr]
    )(views)
    np.testing.assert_array_equal(lesson.actions, np.argmax(log_probability, axis=-1))
    np.testing.assert_allclose(lesson.weights, np.ptp(log_probability, axis=-1), atol=1e-6)
    assert np.ptp(lesson.weights) > 0


def test_a_tree_on_a_task_with_primitives_moves_the_actuators_by_all_it_sees() -> None:
    actions = Primitives(("up", "down"), (-1.0, -2.0, -3.0), (1.0, 2.0, 3.0))
    walk = replace(TASK, signature=replace(TASK.signature, actions=actions), layout=ViewLayout(1, 3, 2, 3))
    signature = tree_signature(walk)
    assert signature.feature_names == ("x", "observation_0", "observation_1")
    assert signature.actions == Continuous(
        ("actuator_0", "actuator_1", "actuator_2"), (-1.0, -2.0, -3.0), (1.0, 2.0, 3.0)
    )
    assert tree_signature(TASK) == TASK.signature

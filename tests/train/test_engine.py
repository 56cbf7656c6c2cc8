"""The compiled iteration: honest shuffling, repeatable runs, one compilation for many seeds."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.small import first_training_state, probe, small_settings

from diprl.methods.agents import neural_agent, tree_agent
from diprl.runs.trainer import engine_for
from diprl.system.storage import to_numpy
from diprl.train.engine import TrainState
from diprl.train.loop import check_finite, mean_metrics
from diprl.train.minibatches import random_order
from diprl.train.trajectory import discounted_returns

SETTINGS = small_settings(total_timesteps=20_000, learning_rate=0.02)
SIZE = 200
order_of = jax.jit(partial(random_order, SIZE))


def start(seed: int) -> TrainState:
    return first_training_state(probe("ThresholdProbe"), SETTINGS, seed, tree_agent)[1]


def engine() -> Any:
    return engine_for(probe("ThresholdProbe"), SETTINGS.compiled(), tree_agent)


def advanced(state: TrainState, iterations: int) -> TrainState:
    for _ in range(iterations):
        state, _ = engine().compiled_iteration(state, SETTINGS.numbers(), np.float32(SETTINGS.ppo.num_rollouts))
    return state


def bits(state: Any) -> list[bytes]:
    return [to_numpy(leaf).tobytes() for leaf in jax.tree.leaves(state)]


@settings(max_examples=30)
@given(st.integers(0, 2**31))
def test_a_random_order_names_everything_once(seed: int) -> None:
    np.testing.assert_array_equal(np.sort(order_of(key=jr.key(seed))), np.arange(SIZE))


def test_random_orders_favour_nobody() -> None:
    """Over many shuffles each place holds each element equally often, and neighbours are unrelated."""
    shuffles = 2000
    orders = np.asarray(jax.jit(jax.vmap(lambda key: random_order(16, key=key)))(jr.split(jr.key(0), shuffles)))
    counts = np.array([np.bincount(orders[:, place], minlength=16) for place in range(16)])
    expected = shuffles / 16
    assert np.abs(counts - expected).max() < 5.5 * expected**0.5
    assert abs(np.corrcoef(orders[:, 0], orders[:, 1])[0, 1] + 1 / 15) < 0.1


def test_the_same_seed_gives_the_same_bits() -> None:
    assert bits(advanced(start(3), 5)) == bits(advanced(start(3), 5))


def test_different_seeds_differ() -> None:
    assert bits(start(3).vector) != bits(start(4).vector)


def test_vmapped_seeds_follow_separate_runs() -> None:
    """Batched matrix products may round differently, so a few iterations agree closely, not bit for bit."""
    several = jax.jit(jax.vmap(engine().iteration, in_axes=(0, None, None)))
    together = jax.tree.map(lambda *leaves: jnp.stack(leaves), start(0), start(1))
    for _ in range(2):
        together, _ = several(together, SETTINGS.numbers(), np.float32(SETTINGS.ppo.num_rollouts))
    for index in range(2):
        alone = advanced(start(index), 2)
        np.testing.assert_allclose(alone.vector, together.vector[index], rtol=1e-3, atol=1e-4)
        np.testing.assert_array_equal(to_numpy(alone.key), to_numpy(together.key)[index])


def test_statistics_of_features_are_fixed_when_they_should_be() -> None:
    fixed, rollouts = SETTINGS.with_values(statistics_until=0.5), SETTINGS.ppo.num_rollouts
    state, counts, moved = start(0), [], []
    for _ in range(rollouts):
        before = state.vector.copy()
        state, _ = engine().compiled_iteration(state, fixed.numbers(), np.float32(rollouts))
        counts.append(float(state.normaliser.count))
        moved.append(bool((state.vector != before).any()))
    half = -(-rollouts // 2)
    assert counts == [SETTINGS.ppo.rollout_size * min(done, half) for done in range(1, rollouts + 1)]
    assert all(moved)


def test_a_network_learns_in_every_rollout() -> None:
    """Phases alternate between a program and its architecture; what has no architecture must not wait for one."""
    settings = SETTINGS.with_values(architecture_period=2)
    network_engine, state = first_training_state(probe("ThresholdProbe"), settings, 0, neural_agent)
    count = np.float32(settings.ppo.num_rollouts)
    policy = slice(network_engine.blueprint.ends[0], network_engine.blueprint.ends[1])
    for _ in range(2):
        before = np.array(state.vector[policy])
        state, _ = network_engine.compiled_iteration(state, settings.numbers(), count)
        assert not np.array_equal(before, state.vector[policy])


def test_discounted_returns_restart_with_each_episode() -> None:
    reward = np.ones((4, 1), np.float32)
    done = np.array([[False], [True], [False], [False]])
    carried, returns = discounted_returns(jnp.array([2.0]), jnp.asarray(reward), jnp.asarray(done), jnp.float32(0.5))
    np.testing.assert_allclose(np.asarray(returns)[:, 0], [2.0, 2.0, 1.0, 1.5])
    np.testing.assert_allclose(carried, [1.5])


def test_rollouts_without_an_end_say_nothing_about_returns() -> None:
    rows = [{"rollout/ep_rew_mean": np.nan, "x": 1.0}, {"rollout/ep_rew_mean": 4.0, "x": 2.0}]
    assert mean_metrics(rows) == {"rollout/ep_rew_mean": 4.0, "x": 1.5}  # type: ignore[arg-type]
    assert np.isnan(mean_metrics(rows[:1])["rollout/ep_rew_mean"])  # type: ignore[arg-type]


@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_numbers_that_are_not_finite_stop_a_run(poison: float) -> None:
    from diprl.errors import NotFiniteError
    from diprl.train.loop import Progress

    figures = {"train/value_loss": 1.0, "train/approx_kl": 0.0}
    good = Progress(start(0), figures, 1, 0.01, 1.0)
    check_finite(good)
    poisoned = good.state._replace(vector=good.state.vector.at[-1].set(poison))
    with pytest.raises(NotFiniteError, match="a parameter is not finite at rollout 1"):
        check_finite(Progress(poisoned, figures, 1, 0.01, 1.0))
    with pytest.raises(NotFiniteError, match="train/value_loss became nan"):
        check_finite(Progress(good.state, figures | {"train/value_loss": np.nan}, 1, 0.01, 1.0))

"""The architecture's own training: dual ascent on α, phases by turns, and the freeze once one depth is left."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.small import first_training_state, probe, small_settings

from diprl.methods.agents import tree_agent
from diprl.policy.base import Temperatures
from diprl.train.dual import MEMORY, Dual, ascend, begin_dual, dual_alpha
from diprl.train.engine import FROZEN_ENTROPY, Engine, TrainState
from diprl.train.settings import Settings

MAX_ENTROPY = float(np.log(6.0))
RATE = 1e-4
DUAL = Settings().with_values(alpha_dual=RATE, target_entropy=0.1).numbers()
ON, OFF = jnp.array(True), jnp.array(False)


def stepped(dual: Dual, entropy: float, count: int, on: jax.Array = ON) -> Dual:
    for _ in range(count):
        dual = ascend(dual, jnp.float32(entropy), MAX_ENTROPY, DUAL, on)
    return dual


def test_the_dual_begins_as_published() -> None:
    dual = begin_dual(MAX_ENTROPY)
    assert float(dual.log_alpha) == -10.0
    assert float(dual.entropy) == pytest.approx(MAX_ENTROPY)


def test_a_dual_step_follows_the_averaged_entropy() -> None:
    """Adam's first step has the size of its learning rate, whatever the gradient."""
    first = stepped(begin_dual(MAX_ENTROPY), entropy=0.5, count=1)
    assert float(first.entropy) == pytest.approx(MEMORY * MAX_ENTROPY + (1 - MEMORY) * 0.5, rel=1e-6)
    assert float(first.log_alpha) == pytest.approx(-10.0 + RATE, abs=2e-6)


def test_log_alpha_rises_above_the_target_falls_below_it_and_stays_within_bounds() -> None:
    start = Dual(jnp.float32(0.0), begin_dual(MAX_ENTROPY).moments, jnp.float32(MAX_ENTROPY))
    assert float(stepped(start, MAX_ENTROPY, 20).log_alpha) > 0.0
    low = start._replace(entropy=jnp.float32(0.0))
    assert float(stepped(low, 0.0, 20).log_alpha) < 0.0
    top = start._replace(log_alpha=jnp.float32(10.0))
    assert float(stepped(top, MAX_ENTROPY, 5).log_alpha) == 10.0


def test_a_dual_that_is_off_keeps_every_number() -> None:
    dual = stepped(begin_dual(MAX_ENTROPY), 0.5, 3)
    kept = stepped(dual, 0.1, 2, on=OFF)
    assert jax.tree.all(jax.tree.map(lambda a, b: bool(jnp.all(a == b)), dual, kept))


def test_a_run_without_a_dual_gets_nothing_from_one() -> None:
    dual = begin_dual(MAX_ENTROPY)._replace(log_alpha=jnp.float32(2.0))
    assert float(dual_alpha(dual, DUAL)) == pytest.approx(np.exp(2.0), rel=1e-6)
    assert float(dual_alpha(dual, Settings().numbers())) == 0.0


def trained(period: int, rollouts: int) -> list[TrainState]:
    """The states of a training after each rollout, the first one included."""
    settings = small_settings(total_timesteps=20_000, architecture_period=period, learning_rate=0.02)
    engine, state = first_training_state(probe("ThresholdProbe"), settings, 0, tree_agent)
    states = [jax.tree.map(jnp.copy, state)]
    for _ in range(rollouts):
        state, _ = engine.compiled_iteration(state, settings.numbers(), np.float32(settings.ppo.num_rollouts))
        states.append(jax.tree.map(jnp.copy, state))
    return states


@pytest.mark.parametrize(("idle_turns", "expected"), [(True, [False, False, True]), (False, [False, True, True])])
def test_once_the_architecture_is_settled_the_program_takes_its_turn_if_asked(
    idle_turns: bool, expected: list[bool]
) -> None:
    settings = small_settings(total_timesteps=20_000, architecture_period=3, idle_turns=idle_turns)
    engine, state = first_training_state(probe("ThresholdProbe"), settings, 0, tree_agent)
    open_choice = engine.active_groups(state, Temperatures())
    assert open_choice.tolist() == [True, False, True]
    settled = state._replace(vector=state.vector.at[: engine.blueprint.ends[0]].set(jnp.array([0.0, 50.0, 0.0, 50.0])))
    assert engine.active_groups(settled, Temperatures()).tolist() == expected


def moved(engine: Engine, before: TrainState, after: TrainState) -> tuple[bool, bool, bool]:
    """Whether architecture, program and critic have changed."""
    ends = engine.blueprint.ends
    parts = (slice(0, ends[0]), slice(ends[0], ends[1]), slice(ends[1], ends[2]))
    changed = [bool(jnp.any(before.vector[part] != after.vector[part])) for part in parts]
    return changed[0], changed[1], changed[2]


@pytest.mark.parametrize("period", [0, 3])
def test_architecture_and_program_train_together_or_by_turns(period: int) -> None:
    settings = small_settings(total_timesteps=20_000, architecture_period=period, learning_rate=0.02)
    engine, _ = first_training_state(probe("ThresholdProbe"), settings, 0, tree_agent)
    states = trained(period, rollouts=6)
    for rollout in range(6):
        turn = period and rollout % period == 0
        expected = (True, True, True) if not period else (bool(turn), not turn, True)
        assert moved(engine, states[rollout], states[rollout + 1]) == expected


def test_the_half_that_waits_keeps_its_optimiser() -> None:
    states = trained(period=3, rollouts=2)
    settings = small_settings(total_timesteps=20_000, architecture_period=3, learning_rate=0.02)
    engine, _ = first_training_state(probe("ThresholdProbe"), settings, 0, tree_agent)
    architecture = slice(0, engine.blueprint.ends[0])
    for moments in ("mean", "square"):
        first, second = (np.asarray(getattr(state.moments, moments)[architecture]) for state in states[1:])
        np.testing.assert_array_equal(first, second)
    assert states[2].taken[0] == states[1].taken[0] > 0


@pytest.mark.parametrize(("certainty", "frozen"), [(0.5, False), (20.0, True)])
def test_a_decided_architecture_is_frozen(certainty: float, frozen: bool) -> None:
    settings = small_settings(total_timesteps=20_000)
    engine, state = first_training_state(probe("ThresholdProbe"), settings, 0, tree_agent)
    levels = engine.blueprint.ends[0] // 2
    decided = jnp.tile(jnp.array([certainty, 0.0]), levels)
    state = state._replace(vector=state.vector.at[: 2 * levels].set(decided))
    depths = engine.agent(state).policy.depth_probabilities()
    entropy = float(-jnp.sum(depths * jnp.log(depths)))
    assert (entropy < FROZEN_ENTROPY) == frozen
    active = engine.active_groups(state, Temperatures())
    assert active.tolist() == [not frozen, True, True]

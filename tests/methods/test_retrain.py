"""Training on from a program: it begins as that program, and what it does not read it never reads."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from tests.search.programs import BALANCING, CART_POLE, FALLING, WORDY, cart_pole

from diprl.arena.reference import program_act, visited_views
from diprl.methods.agents import tree_agent
from diprl.methods.presets import settings_for
from diprl.methods.retrain import GENTLE, continue_from, embedded, retrainer
from diprl.policy.base import HARD, Temperatures
from diprl.program import Program
from diprl.program.ast import conditions, terminals
from diprl.search.front import Limits
from diprl.search.shrink import Shrinker
from diprl.search.trials import Trials


def test_training_begins_with_the_very_program():
    settings = settings_for("diprl", "default", CART_POLE, max_depth=6)
    agent = embedded(CART_POLE, WORDY, WORDY.depth, tree_agent(CART_POLE, settings, key=jr.key(0)), Temperatures())
    views = visited_views(CART_POLE, WORDY)
    noise = jnp.zeros((len(views), agent.policy.noise_size))
    act = jax.vmap(lambda view, uniform: agent.act(view, uniform, Temperatures(), HARD))
    assert np.array_equal(np.asarray(act(views, noise)), program_act(CART_POLE, WORDY)(views))


def test_training_moves_the_numbers_and_keeps_the_shape():
    trained = continue_from(CART_POLE, FALLING, 20_000, seed=0)
    assert terminals(trained.root) == terminals(FALLING.root)
    assert np.flatnonzero(conditions(trained.root)[0].weights).tolist() == [2, 3]
    assert trained != FALLING


def test_steps_of_no_size_leave_the_program_as_it_is(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(GENTLE, "learning_rate", 1e-12)
    trained = continue_from(CART_POLE, FALLING, 20_000, seed=0)
    before, after = (conditions(each.root)[0] for each in (FALLING, trained))
    rows = np.array([[*condition.weights, condition.bias] for condition in (before, after)])
    np.testing.assert_allclose(*rows / rows[:, 2:3], rtol=1e-5)


def test_a_program_longer_than_the_preset_allows_trains_on():
    assert settings_for("diprl", "default", CART_POLE).program.max_depth < WORDY.depth
    continued = continue_from(CART_POLE, WORDY, 20_000, seed=0)
    assert continued.signature == WORDY.signature
    assert continued.depth == WORDY.depth
    assert continued != WORDY


def test_only_chains_train_on():
    assert retrainer(CART_POLE, WORDY) is not None
    nested = cart_pole(
        "if pole_angle > 0:\n    if cart_velocity > 0:\n        left\n    else:\n        right\nelse:\n    left"
    )
    assert retrainer(CART_POLE, nested) is None, "a tree cannot be embedded"


def test_training_tunes_the_first_program_on_a_twin_and_every_size_elsewhere():
    def train(_: Trials, program: Program, steps: float) -> Program:
        return program

    on_twin, elsewhere = (
        Shrinker(Trials(task, WORDY, 1e6), WORDY, Limits(), seed=0, train=train)
        for task in (CART_POLE, replace(CART_POLE, twin=None))
    )
    assert elsewhere.tune is elsewhere.train
    assert on_twin.tune == on_twin.climb != on_twin.train


def test_a_program_that_solves_its_task_or_has_few_steps_is_left_alone():
    tune = retrainer(CART_POLE, BALANCING)
    assert tune is not None
    solving = Trials(CART_POLE, BALANCING, 1e9)
    assert tune(solving, BALANCING, 1e8) == BALANCING
    assert 0 < solving.steps < 20_000, "a few episodes show it"
    few = Trials(CART_POLE, FALLING, 1e9)
    assert tune(few, FALLING, 1000.0) == FALLING
    assert few.steps == 0


def test_a_program_without_conditions_trains_on_and_stays_one():
    constant = cart_pole("left")
    assert continue_from(CART_POLE, constant, 4_096, seed=0).conditions == 0

"""Training on from a program: it begins as that program, and what it does not read it never reads."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from tests.search.programs import BALANCING, CART_POLE, FALLING, WORDY, cart_pole

from diprl.arena.reference import evaluate_program, program_act, visited_views
from diprl.methods.agents import tree_agent
from diprl.methods.diprl import shorten
from diprl.methods.presets import settings_for
from diprl.methods.retrain import AFTERWARDS, GENTLE, Retrainer, continue_from, embedded, retrainer
from diprl.policy.base import HARD, Temperatures
from diprl.program import Program
from diprl.program.ast import conditions, terminals
from diprl.runs.session import Session
from diprl.runs.spec import RunSpec
from diprl.runs.trainer import Trainer
from diprl.search.shrink import Shrinker
from diprl.search.simplify import simplify
from diprl.search.trials import Trials

HOST = replace(CART_POLE, twin=None)
"""The same task where episodes cost more."""


def test_training_begins_with_the_very_program():
    settings = settings_for("diprl", "default", CART_POLE, max_depth=WORDY.depth)
    views, fresh = visited_views(CART_POLE, WORDY), tree_agent(CART_POLE, settings, key=jr.key(0))
    agent = embedded(CART_POLE, WORDY, settings, fresh, views)
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
    assert retrainer(HOST, WORDY) is not None
    assert retrainer(CART_POLE, WORDY) is not None
    nested = cart_pole(
        "if pole_angle > 0:\n    if cart_velocity > 0:\n        left\n    else:\n        right\nelse:\n    left"
    )
    assert retrainer(HOST, nested) is None, "a tree cannot be embedded"


def test_numbers_go_while_the_rest_learns_to_do_without_them():
    every = "pole_angle + 0.3*cart_position + 0.2*cart_velocity + 0.1*pole_angular_velocity - 0.01"
    program = cart_pole(f"if {every} > 0:\n    right\nelse:\n    left")
    trained, steps = Retrainer(CART_POLE, feature_entropy=AFTERWARDS).train(program, 200_000)
    assert trained.coefficients < program.coefficients
    before, after = (evaluate_program(CART_POLE, each, 20).mean for each in (program, trained))
    assert after > 2 * before
    assert 200_000 <= steps < 210_000


def test_most_features_stay_in_a_training_and_more_of_them_after_one_that_lost_too_much(monkeypatch):
    every = "pole_angle + 0.3*cart_position + 0.2*cart_velocity + 0.3*pole_angular_velocity - 0.01"
    program = cart_pole(f"if {every} > 0:\n    right\nelse:\n    left")
    sizes = {}
    for staying in (0.0, 0.99):
        trained, _ = Retrainer(CART_POLE, feature_entropy=AFTERWARDS, staying=staying).train(program, 200_000)
        sizes[staying] = trained.coefficients
    assert sizes[0.0] < sizes[0.99]

    worse = cart_pole("if -pole_angle > 0:\n    right\nelse:\n    left")
    monkeypatch.setattr(Retrainer, "train", lambda *_: (worse, 10))
    gentler = Retrainer(HOST, staying=0.8, lost=0.05)
    assert gentler.tune(Trials(HOST, FALLING, 1e9), FALLING, 1e6) == FALLING
    assert gentler.staying == pytest.approx(0.9)


def test_a_program_that_solves_its_task_or_has_few_steps_is_left_alone():
    tune = retrainer(HOST, BALANCING)
    assert tune is not None
    solving = Trials(HOST, BALANCING, 1e9)
    assert tune(solving, BALANCING, 1e8) == BALANCING
    assert 0 < solving.steps < 20_000, "a few episodes show it"
    few = Trials(HOST, FALLING, 1e9)
    assert tune(few, FALLING, 1000.0) == FALLING
    assert few.steps == 0


def test_on_a_twin_a_program_trains_on_before_the_search(monkeypatch):
    """Numbers go without gradients there, so a training counts only if the score is no worse."""
    calls: list[Program] = []

    def train(trials, program, steps):
        calls.append(program)
        assert steps > 1e6
        return BALANCING if len(calls) == 1 else program

    found = simplify(CART_POLE, FALLING, steps=4_000_000, train=train)
    assert calls == [FALLING, BALANCING], "twice before the search, and never on the way down"
    assert evaluate_program(CART_POLE, found.program, 20).mean == 500.0

    assert simplify(CART_POLE, FALLING, seconds=2.0, train=train).steps > 0
    assert len(calls) == 2, "so little time is for the search alone"

    tune = Retrainer(CART_POLE).tune
    worse = cart_pole("if -pole_angle > 0:\n    right\nelse:\n    left")
    monkeypatch.setattr(Retrainer, "train", lambda *_: (worse, 10))
    assert tune(Trials(CART_POLE, FALLING, 1e9), FALLING, 1e6) == FALLING, "fewer numbers are no excuse"


def test_a_run_may_take_the_program_from_before_it_trained_on(monkeypatch):
    """Training on loses points at times, and few validation episodes may not show that."""
    settings = settings_for("diprl", "default", CART_POLE, members=1, total_timesteps=200_000, polish_share=0.5)
    session = Session(RunSpec("CartPole-v1", "diprl", settings, 0), CART_POLE)
    monkeypatch.setattr(Shrinker, "go_down", lambda _: None)
    front = shorten(Trainer(session), FALLING, BALANCING, 100_000)
    assert front is not None
    assert front.program == BALANCING
    assert evaluate_program(CART_POLE, front.program, 20).mean == 500.0


def test_a_program_without_conditions_trains_on_and_stays_one():
    constant = cart_pole("left")
    assert continue_from(CART_POLE, constant, 4_096, seed=0).conditions == 0

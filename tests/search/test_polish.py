"""Polish finds real improvements, refuses imaginary ones and counts every step."""

import numpy as np
import pytest

from diprl.arena.programs import program_player, reference_player
from diprl.arena.reference import evaluate_program
from diprl.search.polish import compare_fairly, polish
from diprl.search.trials import Trials
from tests.search.programs import BALANCING, CART_POLE, FALLING


def test_improves_a_poor_program():
    before = evaluate_program(CART_POLE, FALLING, 10).mean
    found = polish(CART_POLE, FALLING, 4_000_000)
    assert found.trial.accepted
    assert found.trial.gain > 2 * found.trial.error
    assert evaluate_program(CART_POLE, found.program, 10).mean > before + 50


def test_keeps_what_cannot_be_improved():
    found = polish(CART_POLE, BALANCING, 400_000)
    assert not found.trial.accepted
    assert found.program == BALANCING


@pytest.mark.parametrize("steps", [1000, 20_000, 300_000])
def test_stays_within_its_steps(steps):
    found = polish(CART_POLE, FALLING, steps)
    assert found.trial.steps <= steps


def test_a_search_that_is_ended_early_keeps_what_it_found():
    rounds = iter(range(100_000))
    found = polish(CART_POLE, FALLING, 1e9, enough=lambda: next(rounds) >= 400)
    assert found.trial.accepted
    assert found.trial.gain > 0


def test_rounds_are_repeatable_and_shared():
    play = program_player(CART_POLE, FALLING)
    one, two, other = (play([FALLING, BALANCING], 8, number) for number in (1, 1, 2))
    assert np.array_equal(one.values, two.values)
    assert not np.array_equal(one.values[0], other.values[0])
    assert one.steps == pytest.approx(one.values.sum()), "CartPole pays 1 per step"


def test_twin_and_reference_agree_on_how_good_programs_are():
    programs = [FALLING, BALANCING]
    twin = program_player(CART_POLE, FALLING)(programs, 64, 1).values.mean(axis=1)
    reference = reference_player(CART_POLE)(programs, 20, 1).values.mean(axis=1)
    assert twin[1] == reference[1] == 500.0
    assert twin[0] == pytest.approx(reference[0], rel=0.3)


def test_without_steps_for_the_comparison_nothing_is_accepted():
    trials = Trials(CART_POLE, FALLING, steps=0)
    assert compare_fairly(trials, FALLING, BALANCING, episodes=64) == (False, 0.0, 0.0, 0)


def test_a_few_episodes_prove_nothing():
    few, many = (Trials(CART_POLE, FALLING, steps=2 * 500 * episodes) for episodes in (20, 200))
    assert not compare_fairly(few, FALLING, BALANCING, episodes=64).accepted
    assert compare_fairly(many, FALLING, BALANCING, episodes=64).accepted

"""Simplification: proposals do what they say, dead branches go, and the score decides about the rest."""

import numpy as np
import pytest

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.program.ast import Condition, conditions
from diprl.search import proposals
from diprl.search.compare import compare
from diprl.search.proposals import Proposal
from diprl.search.simplify import CONFIRM_ROUND, Judge, Simplifier, simplify
from tests.search.programs import BALANCING, CART_POLE, FALLING, WORDY, cart_pole


def test_dead_branches_go():
    program = cart_pole(
        "if pole_angle > 0.1:\n    right\nelif pole_angle > 0.2:\n    left\n"
        "elif cart_position > 9:\n    right\nelse:\n    left"
    )
    shorter = proposals.without_dead_branches(program)
    assert shorter == cart_pole("if pole_angle > 0.1:\n    right\nelse:\n    left")


def test_live_branches_stay():
    program = cart_pole("if pole_angle > 0.1:\n    right\nelif cart_velocity > 100:\n    right\nelse:\n    left")
    assert proposals.without_dead_branches(program) == program, "a velocity has no bound"


def test_equal_branches_merge():
    program = cart_pole("if pole_angle > 0:\n    left\nelif cart_position > 0:\n    left\nelse:\n    left")
    assert proposals.merged(program).conditions == 0


def test_each_branch_is_proposed_once_per_side():
    assert len(proposals.without_branch(WORDY)) == 2 * WORDY.conditions
    assert all(each.program.conditions < WORDY.conditions for each in proposals.without_branch(WORDY))


def test_the_least_influential_coefficient_comes_first():
    scales = [1.0, 1.0, 0.1, 1.0]
    first = proposals.without_coefficient(WORDY, scales)[0]
    assert first.what == "drop cart_position from condition 1"
    assert first.program.coefficients == WORDY.coefficients - 1


def test_a_condition_is_scaled_to_a_coefficient_of_one_and_rounded():
    program = cart_pole("if 10*pole_angle + 4.98*pole_angular_velocity - 2.5 > 0:\n    right\nelse:\n    left")
    shorter = conditions(proposals.rounded_conditions(program, digits=2).root)[0]
    assert shorter == Condition((0.0, 0.0, 2.0, 1.0), -0.5)
    assert proposals.has_digits(shorter, 1)
    assert not proposals.has_digits(conditions(program.root)[0], 2)


def test_a_wordy_program_becomes_one_condition_of_two_terms():
    shown: list[Proposal] = []
    result = simplify(CART_POLE, WORDY, episodes=64, show=shown.append)
    assert tuple(shown) == result.stages
    assert result.program.conditions == 1
    assert result.program.coefficients == 2
    assert result.stages[0].program == WORDY
    assert result.stages[-1].score == 500.0
    assert [stage.program.coefficients for stage in result.stages] == sorted(
        (stage.program.coefficients for stage in result.stages), reverse=True
    )


def test_numbers_are_tuned_before_any_goes_and_are_short_at_once():
    result = simplify(CART_POLE, FALLING, episodes=64)
    tuned = next(stage for stage in result.stages if stage.what.startswith("tune all numbers"))
    assert tuned.program.coefficients == FALLING.coefficients
    assert tuned.score > result.stages[0].score + 100
    assert all(proposals.has_digits(condition, 3) for condition in conditions(tuned.program.root))


def test_a_program_without_numbers_stays_as_it_is():
    constant = cart_pole("right")
    assert simplify(CART_POLE, constant, episodes=64).program == constant


def test_steps_that_only_seemed_to_hold_are_taken_back():
    looks = (64, 128)
    simplifier = Simplifier(CART_POLE, WORDY, Judge(CART_POLE, WORDY, 0.01, looks))
    simplifier.keep(Proposal(BALANCING, "a good step", score=500.0))
    simplifier.keep(Proposal(FALLING, "a step that was lucky", score=500.0))
    played = simplifier.judge.steps
    simplifier.confirm(Judge(CART_POLE, WORDY, 0.01, looks, CONFIRM_ROUND))
    assert simplifier.program == BALANCING
    assert simplifier.stages[-1].what.startswith("go back")
    assert simplifier.judge.steps > played
    simplifier.confirm(Judge(CART_POLE, WORDY, 0.01, looks, CONFIRM_ROUND))
    assert len(simplifier.stages) == 4, "what holds stays as it is"


def test_an_impossible_tolerance_is_refused():
    with pytest.raises(DiprlError, match="tolerance"):
        simplify(CART_POLE, WORDY, tolerance=-0.1)


def test_comparison_tells_where_and_how_much():
    difference = compare(BALANCING, FALLING, CART_POLE, episodes=10)
    assert 0 < difference.changed < 1
    assert difference.example is not None
    assert set(difference.actions or ()) == {"left", "right"}
    assert difference.gain.mean == difference.after.mean - difference.before.mean < -50
    assert compare(BALANCING, BALANCING, CART_POLE, episodes=4).changed == 0.0


def test_the_least_influential_weights_go_and_their_mean_effect_stays():
    program = cart_pole("if 4*pole_angle + pole_angular_velocity + 0.5*cart_position > 0:\n    right\nelse:\n    left")
    spread = np.array([[-1.0], [1.0]], np.float32)
    views = np.array([1.0, 0.0, 0.0, 0.0], np.float32) + spread * np.array([1.0, 1.0, 0.5, 1.0], np.float32)
    less = proposals.without_weights(program, views, count=1)
    assert less == cart_pole("if 4*pole_angle + pole_angular_velocity + 0.5 > 0:\n    right\nelse:\n    left")
    least = proposals.without_weights(program, views, count=9)
    assert least == cart_pole("if 4*pole_angle + 0.5 > 0:\n    right\nelse:\n    left")


def test_after_weights_went_the_others_train_on_until_the_score_is_back():
    given: list[Program] = []

    def retrain(program: Program) -> tuple[Program, int]:
        given.append(program)
        answers = {1: FALLING, 2: BALANCING}
        return answers.get(len(given), program), 1000

    wordy = cart_pole(
        "if 3*pole_angle + pole_angular_velocity + 0.1*cart_velocity + 0.1*cart_position > 0.01:\n    right\n"
        "else:\n    left"
    )
    simplifier = Simplifier(CART_POLE, wordy, Judge(CART_POLE, wordy, 0.01, looks=(64, 128)))
    simplifier.thin_out(retrain)
    assert given[0].coefficients == wordy.coefficients - 1
    assert given[1] == proposals.rounded_conditions(FALLING, 3), "which was refused and trains on"
    assert simplifier.program == BALANCING
    assert simplifier.judge.steps > 1000 * len(given)

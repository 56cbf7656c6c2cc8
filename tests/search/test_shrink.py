"""Shrinking: numbers go where behaviour allows, the others take over their work, and the score decides."""

from functools import cache

import numpy as np
import pytest

from diprl.arena.episodes import VISITS_ROUND
from diprl.arena.programs import twin_player
from diprl.arena.reference import evaluate_program, visited_views
from diprl.arena.shared import SharedPlay
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.program.ast import Condition, conditions
from diprl.search.compare import compare
from diprl.search.digits import ALIKE, digits_of, in_fewest_digits, rounded, rounded_alike
from diprl.search.front import (
    Front,
    Limits,
    features_read,
    front_of,
    is_as_good,
    near_best,
    spread,
    still_in,
    tolerable,
    validated,
)
from diprl.search.shrink import THOROUGH, Shrinker, shrink
from diprl.search.simplify import simplify
from diprl.search.smaller import ConditionFit, best_constant, merged, smaller_programs
from diprl.search.trials import Spent, Trials
from diprl.system.processes import available_cores
from tests.search.programs import BALANCING, CART_POLE, FALLING, WORDY, cart_pole


@cache
def views():
    return visited_views(CART_POLE, BALANCING)


def test_equal_branches_merge():
    program = cart_pole("if pole_angle > 0:\n    left\nelif cart_position > 0:\n    left\nelse:\n    left")
    assert merged(program).conditions == 0


def test_a_condition_is_scaled_to_a_coefficient_of_one_and_rounded():
    program = cart_pole("if 10*pole_angle + 4.98*pole_angular_velocity - 2.5 > 0:\n    right\nelse:\n    left")
    assert conditions(rounded(program, 2).root)[0] == Condition((0.0, 0.0, 2.0, 1.0), -0.5)


def test_proposals_are_smaller_and_the_one_that_changes_nothing_comes_first():
    views = visited_views(CART_POLE, WORDY)
    found = smaller_programs(WORDY, views)
    assert all(each.program.coefficients == WORDY.coefficients - each.saved < WORDY.coefficients for each in found)
    assert found[0].changed == 0.0
    acts = WORDY.act_batch(views)
    for proposal in found:
        assert proposal.changed == pytest.approx(np.mean(proposal.program.act_batch(views) != acts), abs=0.02)


def test_a_number_that_goes_leaves_its_work_to_the_others():
    generator = np.random.default_rng(0)
    first = generator.normal(size=2000)
    states = np.column_stack([first, 2.0 * first + 0.01 * generator.normal(size=2000)])
    row, left = np.array([1.0, 1.0, -0.5]), np.array([True, False, True])
    fitted = ConditionFit(row, states).numbers(left)
    agrees = (states @ fitted[:-1] + fitted[-1] > 0) == (states @ row[:-1] + row[-1] > 0)
    assert fitted[1] == 0.0
    assert agrees.mean() > 0.99


@pytest.mark.parametrize("threshold", [-10.0, 0.0, 0.31, 10.0])
def test_the_best_constant_errs_least(threshold):
    values = np.random.default_rng(1).normal(size=300)
    holds = values > threshold
    assert np.array_equal(values + best_constant(values, holds) > 0, holds)


def test_a_wordy_program_becomes_one_condition_of_two_terms():
    told: list[str] = []
    result = simplify(CART_POLE, WORDY, steps=600_000, show=lambda what, _: told.append(what))
    assert result.program.conditions == 1
    assert result.program.coefficients == 2
    assert result.steps <= 600_000
    assert evaluate_program(CART_POLE, result.program, 20).mean == 500.0
    sizes = [entry.program.coefficients for entry in result.front]
    assert sizes == sorted(set(sizes))
    assert any("condition" in what for what in told)


def test_numbers_are_tuned_on_the_way():
    result = simplify(CART_POLE, FALLING, steps=4_000_000)
    before, after = (evaluate_program(CART_POLE, program, 20).mean for program in (FALLING, result.program))
    assert after > before + 100
    assert result.program.rounded(3) == result.program, "at most three digits"


def test_a_program_without_numbers_stays_as_it_is():
    constant = cart_pole("right")
    assert simplify(CART_POLE, constant, steps=100_000).program == constant


def test_an_impossible_tolerance_is_refused():
    with pytest.raises(DiprlError, match="tolerance"):
        simplify(CART_POLE, WORDY, tolerance=-0.1)


def test_a_search_that_is_ended_early_keeps_what_it_found():
    trials = Trials(CART_POLE, WORDY, 400_000)
    trials.enough = lambda: trials.rounds >= 2
    front = shrink(trials, WORDY)
    assert front.program.coefficients <= WORDY.coefficients
    assert trials.rounds > 2, "what there was by then is compared"
    assert trials.steps <= 400_000


def test_no_round_goes_over_the_budget():
    trials = Trials(CART_POLE, BALANCING, 1700)
    assert trials.play([BALANCING], 10).shape == (1, 3), "episodes of 500 steps"
    assert trials.steps == 1500
    with pytest.raises(Spent):
        trials.play([BALANCING], 1)


def test_a_part_of_the_budget_is_that_of_steps_and_of_time(monkeypatch):
    clock = [10.0]
    monkeypatch.setattr("diprl.search.trials.monotonic", lambda: clock[0])
    trials = Trials(CART_POLE, BALANCING, 1000, seconds=100.0)
    clock[0] = 30.0
    trials.count(200, typical=False)
    with trials.part(0.5):
        assert (trials.most_steps, trials.seconds) == (600, 60)
    assert (trials.most_steps, trials.seconds) == (1000, 100)


def test_states_are_watched_on_the_twin_where_time_is_limited():
    player, timed = twin_player(CART_POLE, 3), Trials(CART_POLE, WORDY, 100_000, seconds=60.0)
    views = timed.views(FALLING)
    assert timed.length < 500, "it falls"
    assert len(views) == timed.steps == player([FALLING], round(timed.steps / timed.length), VISITS_ROUND).steps
    assert np.abs(views[:, 0]).max() < 2.4


def test_a_thorough_search_goes_down_again_from_the_program_to_take():
    told: list[tuple[str, Program]] = []
    result = simplify(CART_POLE, WORDY, steps=2_000_000, show=lambda *what: told.append(what))
    again = max(index for index, (what, _) in enumerate(told) if what == "tune all numbers")
    assert again > 1
    assert all(program.coefficients <= told[again][1].coefficients for _, program in told[again:])
    assert result.program.coefficients <= told[again][1].coefficients


def test_what_tuning_cannot_mend_is_taken_back(monkeypatch):
    shrinker = Shrinker(Trials(CART_POLE, WORDY, 2_000_000), WORDY, Limits(), seed=0, effort=THOROUGH)
    shrinker.best = shrinker.level = 1000.0  # more than any program earns
    options = [each for each in smaller_programs(shrinker.program, shrinker.views) if each.changed > 0]
    monkeypatch.setattr(shrinker, "race", lambda options: (options[0], True))
    monkeypatch.setattr(shrinker, "tune", lambda program, _: program)
    before = shrinker.program
    shrinker.take(options)
    assert shrinker.program == before
    assert shrinker.refused == {options[0].program}
    shrinker.retries = 0
    shrinker.take(options[1:])
    assert shrinker.program == merged(options[1].program), "in the end the small sizes are wanted too"


def test_a_second_way_begins_with_the_smallest_program_near_the_best():
    front = front_of(returns_of(small=9.5, large=10.0), Limits())
    assert near_best(front, 0.1) == BALANCING
    assert near_best(front, 0.01) == WORDY


def test_what_compiles_or_plays_elsewhere_does_not_count_for_the_pace(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("diprl.search.trials.monotonic", lambda: clock[0])
    trials = Trials(CART_POLE, BALANCING, seconds=100.0)
    clock[0] = 50.0
    trials.count(10, typical=False)
    clock[0] = 51.0
    trials.count(1000)
    assert trials.left == pytest.approx(49 * 1000)


def test_a_long_search_keeps_no_more_for_the_comparison_than_it_can_use():
    short, long = (Trials(CART_POLE, WORDY, steps) for steps in (1e5, 1e9))
    assert Shrinker(short, WORDY, Limits(), seed=0).left == pytest.approx(short.left / 5)
    assert Shrinker(long, WORDY, Limits(), seed=0).left > 0.9 * long.left


def returns_of(**means: float) -> dict[Program, np.ndarray]:
    programs = {"small": BALANCING, "large": WORDY}
    noise = np.random.default_rng(0).normal(0.0, 1.0, size=100)
    return {programs[name]: mean + noise for name, mean in means.items()}


def test_the_smallest_of_equals_is_taken_and_the_best_of_unequals():
    assert front_of(returns_of(small=10.0, large=10.0), Limits()).program == BALANCING
    assert front_of(returns_of(small=9.8, large=10.0), Limits()).program == WORDY
    assert front_of(returns_of(small=9.8, large=10.0), Limits(tolerance=0.03)).program == BALANCING


def test_what_is_tolerable_is_measured_by_what_is_at_stake():
    assert tolerable(returns_of(small=9.8, large=10.0), 0.01) == pytest.approx(0.1, rel=0.05)
    assert tolerable(returns_of(small=-300.0, large=200.0), 0.01) == pytest.approx(5.0, rel=0.05)


@pytest.mark.parametrize(
    ("lost", "deviation", "alike"),
    [
        (0.1, 0.001, True),  # all episodes agree, on what does not matter to anybody
        (0.4, 0.001, False),
        (0.4, 5.0, True),  # a standard error of a half
        (1.5, 30.0, False),  # one of three, which excuses nothing
    ],
)
def test_a_loss_counts_from_one_standard_error_and_from_a_quarter_to_one_percent(lost, deviation, alike):
    best = 100.0 + np.random.default_rng(0).normal(0.0, deviation, size=100)
    assert is_as_good(best - lost, best, 0.0) == alike


def test_limits_choose_among_what_is_allowed():
    front = front_of(returns_of(small=5.0, large=10.0), Limits(numbers=2))
    assert front.program == BALANCING
    assert front.pick(numbers=100).program == WORDY
    assert front.pick(conditions=1).program == BALANCING
    with pytest.raises(DiprlError, match="smallest program has 2 numbers and 1 condition"):
        front.pick(numbers=1)


def test_a_front_comes_back_from_json():
    front = front_of(returns_of(small=5.0, large=10.0), Limits())
    assert Front.from_json(front.to_json()) == front


def test_a_feature_that_must_be_read_stays():
    wordy = cart_pole("if 3*pole_angle + pole_angular_velocity + 0.1*cart_position > 0:\n    right\nelse:\n    left")
    assert features_read(wordy) == {0, 2, 3}
    limits = Limits(required=(0,))
    front = shrink(Trials(CART_POLE, wordy, 500_000), wordy, limits)
    assert 0 in features_read(front.program)
    assert all(0 in features_read(entry.program) for entry in front)


def test_rounding_takes_the_fewest_digits_that_change_nothing():
    program = cart_pole("if 3.00004*pole_angle + pole_angular_velocity > 0:\n    right\nelse:\n    left")
    assert rounded_alike(program, visited_views(CART_POLE, program)) == BALANCING


def test_a_constant_is_rounded_to_where_it_decides_as_before():
    """Rounded by itself it would be 11, and the condition would never hold."""
    long = cart_pole("if cart_position + 11.4*pole_angle - 11.3 > 0:\n    right\nelse:\n    left")
    states = np.zeros((6, 4), np.float32)
    states[:, 0], states[:, 2] = [-1, 0, 1, -1, 0, 1], [0, 0, 0, 1, 1, 1]
    short = rounded_alike(long, states)
    assert np.array_equal(short.act_batch(states), long.act_batch(states))
    assert not np.array_equal(rounded(long, 2).act_batch(states), long.act_batch(states))
    assert digits_of(short) == 2


def test_fewer_digits_are_taken_where_the_score_stays():
    long = cart_pole("if 3.21*pole_angle + 1.07*pole_angular_velocity > 0:\n    right\nelse:\n    left")
    trials = Trials(CART_POLE, long, steps=400_000)
    front = in_fewest_digits(trials, front_of({long: np.full(8, 500.0)}, Limits()), views())
    assert digits_of(long) == 3
    assert digits_of(front.program) == 1
    assert evaluate_program(CART_POLE, front.program, 20).mean == 500.0


def test_rounding_that_changes_actions_is_judged_by_the_score():
    condition = "2.6*pole_angle + pole_angular_velocity + 0.35*cart_velocity > 0"
    long = cart_pole(f"if {condition}:\n    right\nelse:\n    left")
    met = visited_views(CART_POLE, long)
    assert digits_of(rounded_alike(long, met)) > 1
    front = in_fewest_digits(Trials(CART_POLE, long, steps=400_000), front_of({long: np.full(8, 500.0)}, Limits()), met)
    assert digits_of(front.program) == 1
    assert np.mean(front.program.act_batch(met) != long.act_batch(met)) > ALIKE


def test_the_scale_of_a_condition_that_needs_fewest_digits_is_taken():
    long = cart_pole("if pole_angle + 1.5*pole_angular_velocity > 0:\n    right\nelse:\n    left")
    front = in_fewest_digits(
        Trials(CART_POLE, long, steps=400_000), front_of({long: np.full(8, 500.0)}, Limits()), views()
    )
    assert str(front.program).endswith("if 2*pole_angle + 3*pole_angular_velocity > 0:\n    right\nelse:\n    left\n")


def test_a_program_that_does_exactly_as_a_smaller_one_meets_no_further_episodes():
    trials = Trials(CART_POLE, WORDY, steps=400_000)
    front = validated(trials, [WORDY, BALANCING], Limits())
    assert front.program == BALANCING
    assert trials.rounds == 3, "both always last 500 steps"


def test_those_that_lose_little_stay_though_every_episode_agrees():
    lucky, steady, bad = np.full(30, 100.0), np.full(30, 99.5), np.full(30, 95.0)
    assert still_in([WORDY, BALANCING], {WORDY: lucky, BALANCING: steady}) == [WORDY, BALANCING]
    assert still_in([WORDY, BALANCING], {WORDY: lucky, BALANCING: lucky - 0.1}) == [BALANCING, WORDY], "about the same"
    loses = {WORDY: lucky, BALANCING: lucky - 0.9}
    assert still_in([WORDY, BALANCING], loses) == [WORDY, BALANCING]
    assert still_in([WORDY, BALANCING], loses, loss=2.0) == [BALANCING, WORDY]
    assert still_in([WORDY, BALANCING], {WORDY: lucky, BALANCING: bad}) == [WORDY]


def test_the_smallest_of_those_that_do_alike_stays_once_that_is_sure():
    returns = {WORDY: np.full(30, 100.0), BALANCING: np.full(30, 100.0)}
    assert still_in([WORDY, BALANCING], returns, sure=True) == [BALANCING]
    assert still_in([WORDY, BALANCING], returns, sure=False) == [BALANCING, WORDY], "some may fail later on"


def test_fewer_digits_are_not_believed_after_a_few_episodes():
    long = cart_pole("if 3.21*pole_angle + 1.07*pole_angular_velocity > 0:\n    right\nelse:\n    left")
    trials = Trials(CART_POLE, long, steps=40_000)
    front = in_fewest_digits(trials, front_of({long: np.full(8, 500.0)}, Limits()), views())
    assert front.program == long


@pytest.mark.parametrize(("noise", "believed"), [(1.0, True), (40.0, False)])
def test_fewer_digits_are_not_believed_where_returns_are_noisy(noise, believed, monkeypatch):
    """Fewer digits that happen to earn more prove nothing if single episodes differ by more than is at stake."""
    long = cart_pole("if 3.21*pole_angle + 1.07*pole_angular_velocity > 0:\n    right\nelse:\n    left")
    trials = Trials(CART_POLE, long, steps=400_000)

    def play(programs, episodes, series):
        better = 100.0 + np.random.default_rng(0).normal(3.0, noise, size=(len(programs) - 1, 64))
        return np.concatenate([np.full((1, 64), 100.0), better])

    monkeypatch.setattr(trials, "play", play)
    front = in_fewest_digits(trials, front_of({long: np.full(8, 500.0)}, Limits()), views())
    assert (front.program != long) == believed


def test_an_episode_is_as_long_as_those_that_were_looked_at():
    trials = Trials(CART_POLE, FALLING, steps=400_000)
    assert trials.length == CART_POLE.horizon
    views = trials.views(FALLING)
    assert trials.length == len(views) / 32 < CART_POLE.horizon


def test_few_sizes_are_compared_the_first_and_the_last_among_them():
    chains = [
        cart_pole("\nel".join(f"if pole_angle - {k} > 0:\n    left" for k in range(1, n)) + "\nelse:\n    right")
        for n in range(20, 1, -1)
    ]
    chosen = spread(chains, 10)
    assert len(chosen) == 10
    assert (chosen[0], chosen[-1]) == (chains[0], chains[-1])


def test_scores_from_few_episodes_are_put_right_by_the_program_that_met_more():
    generator = np.random.default_rng(0)
    hardness = generator.normal(0.0, 10.0, 1000)
    hardness[:20] += 15.0  # the first episodes happen to be easy
    best, other = hardness, hardness[:20] - 3.0 + generator.normal(0.0, 0.1, 20)
    front = front_of({WORDY: best, BALANCING: other}, Limits())
    small = next(entry for entry in front if entry.program == BALANCING)
    assert small.mean == pytest.approx(best.mean() - 3.0, abs=0.2)
    assert small.error < 0.5


def test_worker_processes_play_the_same_episodes(monkeypatch):
    monkeypatch.setattr("diprl.arena.shared.WORTH_SHARING", 1e-9)
    play = SharedPlay(CART_POLE)
    alone, steps = play([FALLING, BALANCING], 5, 77)
    together, steps_together = play([FALLING, BALANCING], 5, 77)
    assert len(play.workers) == available_cores() or play.alone
    np.testing.assert_array_equal(alone, together)
    assert steps == steps_together


def test_comparison_tells_where_and_how_much():
    difference = compare(BALANCING, FALLING, CART_POLE, episodes=10)
    assert 0 < difference.changed < 1
    assert difference.example is not None
    assert set(difference.actions or ()) == {"left", "right"}
    assert difference.gain.mean == difference.after.mean - difference.before.mean < -50
    assert compare(BALANCING, BALANCING, CART_POLE, episodes=4).changed == 0.0


def test_with_a_limit_only_programs_that_keep_to_it_meet_more_episodes():
    good = cart_pole("if 3*pole_angle + pole_angular_velocity + 0.01*cart_position > 0.01:\n    right\nelse:\n    left")
    front = validated(Trials(CART_POLE, WORDY, steps=400_000), [WORDY, good, FALLING], Limits(numbers=3))
    episodes = {entry.program: entry.episodes for entry in front}
    assert front.program == FALLING
    assert episodes[good] == episodes[WORDY] <= episodes[FALLING]

"""Statistics against values computed by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diprl.experiment.statistics import (
    bootstrap,
    interquartile_mean,
    mean_and_deviation,
    performance_profile,
    probability_of_improvement,
)

RUNS = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8)


def test_mean_and_deviation_are_the_papers() -> None:
    assert mean_and_deviation([3, 4, 5]) == (4.0, pytest.approx(0.8165, abs=1e-4))


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([[7.0]], 7.0),
        ([[1, 2, 3]], 2.0),
        ([[1, 2, 3, 100]], 2.5),
        ([[-100, 1, 2], [3, 4, 500], [0, 0, 5]], (0 + 1 + 2 + 3 + 4) / 5),
    ],
)
def test_interquartile_mean_by_hand(scores: list[list[float]], expected: float) -> None:
    assert interquartile_mean(scores) == pytest.approx(expected)


@given(st.lists(RUNS, min_size=1, max_size=6))
def test_interquartile_mean_is_the_mean_of_the_sorted_middle(tasks: list[list[float]]) -> None:
    ordered = np.sort(np.concatenate(tasks))
    cut = len(ordered) // 4
    assert interquartile_mean(tasks) == pytest.approx(ordered[cut : len(ordered) - cut].mean(), rel=1e-12, abs=1e-12)


def test_probability_of_improvement_by_hand() -> None:
    assert probability_of_improvement([[1, 2, 3]], [[0, 2]]) == pytest.approx((1 + 2 + 2 - 0.5) / 6)
    assert probability_of_improvement([[1], [0]], [[0], [1]]) == 0.5


@given(st.lists(RUNS, min_size=1, max_size=3))
def test_improvement_of_one_and_of_the_other_add_up(tasks: list[list[float]]) -> None:
    others = [[value + 1 for value in task] for task in tasks]
    forth, back = probability_of_improvement(tasks, others), probability_of_improvement(others, tasks)
    assert forth + back == pytest.approx(1.0)
    assert probability_of_improvement(tasks, tasks) == pytest.approx(0.5)


@given(st.lists(RUNS, min_size=1, max_size=3))
def test_intervals_hold_what_cannot_vary(tasks: list[list[float]]) -> None:
    steady = [[task[0]] * 4 for task in tasks]
    estimate = bootstrap(interquartile_mean, steady)
    assert (estimate.low, estimate.high) == pytest.approx((estimate.value, estimate.value))


def test_resampling_never_leaves_a_task() -> None:
    estimate = bootstrap(interquartile_mean, [[0.0, 0.0], [1.0, 1.0]])
    assert estimate == (0.5, 0.5, 0.5)
    assert bootstrap(probability_of_improvement, [[1, 2], [8, 9]], [[0, 0], [7, 7]]) == (1.0, 1.0, 1.0)


def mean_of_task(tasks: list[np.ndarray]) -> np.ndarray:
    return tasks[0].mean(axis=-1)


def test_the_bootstrap_interval_of_a_mean_is_that_of_the_normal_distribution() -> None:
    values = np.random.default_rng(1).normal(5.0, 2.0, 400)
    estimate = bootstrap(mean_of_task, [values])
    half = 1.96 * values.std() / 20
    assert (estimate.low, estimate.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.03)
    assert estimate == bootstrap(mean_of_task, [values])


def test_profile_by_hand() -> None:
    share = performance_profile(np.array([-1.0, 0.0, 0.5, 1.0]))
    profile = bootstrap(share, [[0.0, 1.0], [0.5]])
    assert profile.value.tolist() == [1.0, 0.75, 0.25, 0.0]
    assert (profile.low <= profile.value).all()
    assert (profile.value <= profile.high).all()
    assert profile.low[1] == 0.5  # one task never fails, the other may be resampled to nothing but zeros


def test_a_task_without_runs_is_refused() -> None:
    with pytest.raises(ValueError, match="one or more runs"):
        bootstrap(interquartile_mean, [[]])

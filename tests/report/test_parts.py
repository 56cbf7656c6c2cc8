"""The parts of the page one by one."""

import numpy as np
import pytest

from diprl.program import parse
from diprl.report.draw import Markup, element, ticks
from diprl.report.episode import Visits, choose_features, influence, record_replay, short_floats
from diprl.report.watch import branch_captions
from diprl.tasks.registry import load_task
from tests.report.run_folders import CLUMSY, PROGRAM


def test_branches_have_the_colours_of_their_actions() -> None:
    first, second, third = branch_captions(PROGRAM)
    assert (first[1], second[1], third[1]) == ("1: right", "2: right", "3: left")
    assert first[0] == second[0] != third[0]


def test_influence_finds_the_feature_that_matters() -> None:
    program = parse("features: a, b\nactions: no, yes\n\nif b > 0:\n    yes\nelse:\n    no\n")
    features = np.random.default_rng(0).normal(size=(400, 2))
    visits = Visits(features, program.branch_batch(features))
    nothing, much = influence(program, visits)
    assert nothing == 0.0
    assert much == pytest.approx(0.5, abs=0.1)
    assert choose_features(program, None, [nothing, much]) == [1, 0]


def test_a_replay_agrees_with_the_interpreter() -> None:
    replay = record_replay(load_task("CartPole-v1"), CLUMSY)
    states = np.array([moment.features for moment in replay.moments])
    assert replay.moments[-1].total == len(replay.moments) - 1
    assert [moment.branch for moment in replay.moments] == CLUMSY.branch_batch(states).tolist()
    told = np.array([row for row, _ in replay.to_page()["moments"]], np.float32)
    np.testing.assert_array_equal(told, states)
    assert len(replay.pictures) == -(-len(replay.moments) // replay.stride)


def test_short_floats_give_the_32_bits_back() -> None:
    numbers = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    assert (np.array(short_floats(numbers), np.float32) == numbers).all()
    assert short_floats(np.array([[np.nan, np.inf, 0.1]])) == [[0.0, 0.0, 0.1]]


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1e6, 3.0), (0.001, 0.00101), (499.0, 501.0)])
def test_ticks_lie_between(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 2 <= len(found) <= 9
    assert all(low - 1e-9 * abs(low) <= tick <= high + 1e-9 * abs(high) for tick in found)


def test_text_becomes_markup_only_when_it_is_escaped() -> None:
    drawn = element("text", "<b>", element("tspan", "&"), aria_label='"<')
    assert drawn == '<text aria-label="&quot;&lt;">&lt;b&gt;<tspan>&amp;</tspan></text>'
    assert isinstance(drawn, Markup)
    assert not isinstance(drawn + "<b>", Markup)

"""Explanations: contributions add up, and the counterfactuals are real and smallest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diprl.errors import ProgramError
from diprl.program import Continuous, Discrete, Program, parse
from diprl.program.ast import terminals
from tests.program.strategies import programs, tame_numbers

CARTPOLE = parse("features: angle, rate\nactions: left, right\nif 3*angle + rate > 1: right\nelse: left")


def terminal(program: Program, features: tuple[float, ...]) -> object:
    return terminals(program.root)[program.branch_batch([features])[0]]


def test_explanation_of_one_condition() -> None:
    found = CARTPOLE.explain([0.0, 0.5])
    (step,) = found.steps
    assert (found.action, found.leaf, step.holds, step.value) == ("left", 1, False, -0.5)
    assert step.contributions == (("angle", 0.0), ("rate", 0.5), ("bias", -1.0))
    assert step.margin == pytest.approx(0.5 / np.sqrt(10))
    assert found.nearest is not None
    assert found.nearest.distance == pytest.approx(0.5 / np.sqrt(10))
    assert dict(found.nearest.changes) == pytest.approx({"angle": 0.15, "rate": 0.05})
    assert [dict(change.changes) for change in found.single] == [
        pytest.approx({"angle": 0.5 / 3}),
        pytest.approx({"rate": 0.5}),
    ]
    assert "smallest change   angle +0.15, rate +0.05 gives right" in str(found)


def test_scales_change_what_is_near() -> None:
    found = CARTPOLE.explain([0.0, 0.5], scales=[0.001, 1.0])
    assert found.single[0].changes[0][0] == "rate"
    with pytest.raises(ProgramError, match="2 positive numbers"):
        CARTPOLE.explain([0.0, 0.5], scales=[0.0, 1.0])


def test_bounds_are_respected() -> None:
    program = parse("features: x in [0, 1], y\nactions: a, b\nif x + 0.1*y > 2: b\nelse: a")
    found = program.explain([0.5, 0.0])
    assert [change.changes[0][0] for change in found.single] == ["y"]
    assert found.nearest is not None
    assert found.nearest.features == pytest.approx((1.0, 10.0))


def test_no_change_where_no_other_action_exists() -> None:
    found = parse("features: x\nactions: a, b\nif x > 0: a\nelif 1 < 0: b\nelse: a").explain([1.0])
    assert found.nearest is None
    assert found.single == ()


def test_observations_that_are_not_finite_have_no_counterfactuals() -> None:
    found = CARTPOLE.explain([np.nan, 0.0])
    assert (found.action, found.nearest, found.single) == ("left", None, ())


@settings(max_examples=50)
@given(programs(tame_numbers, (Discrete, Continuous)), st.integers(0, 1000))
def test_changes_change_the_action_and_none_is_shorter(program: Program, seed: int) -> None:
    generator = np.random.default_rng(seed)
    state = np.clip(
        generator.normal(size=len(program.signature.features)).round(2),
        [feature.low for feature in program.signature.features],
        [feature.high for feature in program.signature.features],
    )
    found, current = program.explain(state), terminal(program, tuple(state))
    for change in (*found.single, *([found.nearest] if found.nearest else [])):
        assert terminal(program, change.features) != current
        assert dict(change.changes).keys() <= set(program.signature.feature_names)
    if found.single:
        assert found.nearest is not None
        assert found.nearest.distance <= found.single[0].distance * (1 + 1e-6) + 1e-6
    radius = max(0.0, found.nearest.distance - 1e-6) if found.nearest else 1e3
    directions = generator.normal(size=(200, len(state)))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    closer = state + directions * radius * 0.999 * generator.random((200, 1))
    inside = [feature.low for feature in program.signature.features] <= closer
    inside &= closer <= [feature.high for feature in program.signature.features]
    leaves = terminals(program.root)
    assert all(leaves[leaf] == current for leaf in program.branch_batch(closer[inside.all(axis=1)]))


def test_a_condition_that_reads_nothing_hides_no_change() -> None:
    program = parse("features: A in [0, inf]\nactions: A, B\nif A > 0: B\nelif 0 > 0: A\nelse: A\n")
    found = program.explain([0.13])
    assert found.nearest is not None
    assert found.nearest.features == (0.0,)
    assert found.nearest.distance == found.single[0].distance

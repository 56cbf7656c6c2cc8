"""The vectorised interpreter agrees with the scalar one bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diprl.errors import ProgramError
from diprl.program import (
    Act,
    Affine,
    Condition,
    Continuous,
    Discrete,
    Feature,
    If,
    Primitives,
    Program,
    Signature,
    parse,
)
from diprl.program.ast import terminals
from diprl.program.evaluate import terminal_at
from tests.program.strategies import observations, primitive_actions, programs, tame_numbers

TWO = (Feature("x"), Feature("y"))
either_numbers = st.sampled_from([programs(), programs(tame_numbers)]).flatmap(lambda strategy: strategy)


@settings(max_examples=50)
@given(either_numbers, st.integers(0, 1000))
def test_batch_equals_single(program: Program, seed: int) -> None:
    features = observations(program, 40, seed)
    primitives = primitive_actions(program, 40, seed)
    batch = program.act_batch(features, primitives)
    single = [program.act(row, None if primitives is None else primitives[n]) for n, row in enumerate(features)]
    np.testing.assert_array_equal(batch, np.array(single))
    assert np.array_equal(np.signbit(batch), np.signbit(np.array(single)))


@settings(max_examples=50)
@given(either_numbers, st.integers(0, 1000))
def test_branches_are_numbered_as_printed(program: Program, seed: int) -> None:
    features = observations(program, 20, seed)
    leaves = terminals(program.root)
    for row, branch in zip(features, program.branch_batch(features), strict=True):
        assert terminal_at(program.root, row.tolist()) == leaves[branch]


def test_thresholds_are_strict_and_nan_is_false() -> None:
    program = parse("features: x\nactions: no, yes\nif x - 0.5 > 0:\n  yes\nelse:\n  no")
    places = [[0.5], [np.nextafter(0.5, 1)], [np.nan], [np.inf], [-np.inf]]
    assert program.act_batch(places).tolist() == [0, 1, 0, 1, 0]


def test_sums_run_from_left_to_right() -> None:
    root = If(Condition((1.0, 1.0, 1.0), -1.0), Act(1), Act(0))
    program = Program(Signature((*TWO, Feature("z")), Discrete(("no", "yes"))), root)
    assert program.act([1e16, 1.0, -1e16]) == 0
    assert program.act([1e16, -1e16, 2.0]) == 1


def test_unread_features_do_not_matter() -> None:
    program = Program(Signature(TWO, Discrete(("no", "yes"))), If(Condition((1.0, 0.0), 0.0), Act(1), Act(0)))
    assert program.act([1.0, np.nan]) == program.act_batch([[1.0, np.inf]])[0] == 1


def test_outputs_are_clipped() -> None:
    actions = Continuous(("a", "b"), (-1.0, -np.inf), (1.0, 2.0))
    program = Program(Signature(TWO, actions), Affine(((2.0, 0.0), (0.0, 1.0)), (0.0, -3.0)))
    assert program.act([5.0, -4.0]).tolist() == [1.0, -7.0]  # type: ignore[union-attr]
    assert np.isnan(program.act_batch([[np.nan, 9.0]])[0, 0])


def test_primitives_are_blended() -> None:
    program = parse("features: x\nprimitives: f, g\nactuators: 2 in [-1, 1]\n0.25*f + 0.75*g")
    assert isinstance(program.signature.actions, Primitives)
    assert program.act([0.0], [[1.0, 4.0], [0.0, 4.0]]).tolist() == [0.25, 1.0]  # type: ignore[union-attr]
    with pytest.raises(ProgramError, match="primitives' actions are missing"):
        program.act([0.0])
    with pytest.raises(ProgramError, match="over primitives"):
        program.predict([0.0])


def test_predict_follows_stable_baselines() -> None:
    program = parse("features: x\nactions: no, yes\nif x > 0: yes\nelse: no")
    action, state = program.predict(np.array([1.0], np.float32), state="kept")
    assert (action, state) == (1, "kept")
    assert program.predict(np.array([[1.0], [-1.0]]), deterministic=True)[0].tolist() == [1, 0]


def test_wrong_shapes_are_named() -> None:
    program = parse("features: x\nactions: no, yes\nyes")
    with pytest.raises(ProgramError, match=r"shape \(2,\): the program reads \(1\)"):
        program.act([1.0, 2.0])
    with pytest.raises(ProgramError, match=r"reads \(n, 1\)"):
        program.act_batch([1.0])

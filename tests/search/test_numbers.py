"""Programs as points to search over, and as arrays to run: neither changes what a program does."""

import jax
import numpy as np
import pytest

from diprl.arena.programs import act
from diprl.program import (
    Act,
    Affine,
    Blend,
    Condition,
    Continuous,
    Discrete,
    Feature,
    If,
    Primitives,
    Program,
    Signature,
)
from diprl.program.packed import Packed, pack
from diprl.search.numbers import Coordinates

FEATURES = tuple(Feature(name) for name in ("a", "b", "c"))
STATES = np.random.default_rng(0).normal((0.5, -2.0, 10.0), (0.1, 3.0, 20.0), size=(500, 3))
FIRST, SECOND = Condition((1.0, -0.2, 0.03), -0.8), Condition((0.0, 1.0, -0.1), 3.0)


def nested(actions, *leaves) -> Program:
    root = If(FIRST, If(SECOND, leaves[0], leaves[1]), leaves[2])
    return Program(Signature(FEATURES, actions), root)


DISCRETE = nested(Discrete(("x", "y", "z")), Act(2), Act(0), Act(1))
AFFINE = nested(
    Continuous(("u",), (-2.0,), (4.0,)),
    Affine(((0.5, 0.0, 0.1),), (1.0,)),
    Affine(((0.0, 0.1, 0.0),), (0.0,)),
    Affine(((0.2, -0.3, 0.0),), (-1.0,)),
)
BLENDED = nested(Primitives(("p", "q"), (-1.0,), (1.0,)), Blend((0.25, 0.75)), Blend((0.5, 0.5)), Blend((0.9, 0.1)))


@pytest.mark.parametrize("program", [DISCRETE, AFFINE], ids=["discrete", "affine"])
def test_a_point_is_the_program(program):
    space = Coordinates(program, STATES)
    again = space.program_at(space.vector())
    assert again.act_batch(STATES) == pytest.approx(program.act_batch(STATES), abs=1e-9)


def test_blends_come_back():
    space = Coordinates(BLENDED, STATES)
    again = space.program_at(space.vector())
    actions = np.random.default_rng(1).uniform(-1, 1, size=(500, 2, 1))
    assert again.act_batch(STATES, actions) == pytest.approx(BLENDED.act_batch(STATES, actions), abs=1e-9)


def test_what_a_condition_does_not_read_it_goes_on_not_reading():
    space = Coordinates(DISCRETE, STATES)
    moved = space.program_at(space.vector() + 0.1)
    assert isinstance(moved.root, If)
    assert isinstance(moved.root.then, If)
    assert moved.root.then.condition.weights[0] == 0.0
    assert moved.root.condition.weights[0] != FIRST.weights[0]


def test_packed_programs_act_alike():
    packed = pack(DISCRETE, 4)
    acted = jax.vmap(act, in_axes=(None, 0))(Packed(*packed), STATES.astype(np.float32))
    assert np.mean(np.asarray(acted) == DISCRETE.act_batch(STATES)) > 0.99


def test_a_constant_feature_keeps_its_unit():
    space = Coordinates(DISCRETE, np.array([[1.0, 5.0, 0.0], [2.0, 5.0, 1.0], [3.0, 5.0, 2.0]]))
    assert space.scale[1] == 1.0
    assert space.scale[0] == pytest.approx(np.std([1.0, 2.0, 3.0]))


def test_only_numbers_that_are_there_are_searched():
    space = Coordinates(AFFINE, STATES)
    assert len(space.vector()) == AFFINE.coefficients
    moved = space.program_at(space.vector() + 0.1)
    assert moved.coefficients == AFFINE.coefficients

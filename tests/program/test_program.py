"""Validation, names, edits."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diprl.errors import DiprlError, ProgramError
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
    identifier,
    parse,
    unique_identifiers,
)
from diprl.program.names import is_identifier
from tests.program.strategies import observations, programs, tame_numbers

X = (Feature("x"),)
DISCRETE = Signature(X, Discrete(("no", "yes")))
PRIMITIVES = Signature(X, Primitives(("f", "g"), (-1.0,), (1.0,)))
OUTPUT = Signature(X, Continuous(("a",), (-1.0,), (1.0,)))
CHAIN = parse("if x > 1: yes\nelif x > 0: no\nelse: yes", DISCRETE)


@pytest.mark.parametrize(
    ("signature", "root", "message"),
    [
        (DISCRETE, Act(2), "action 2 is out of range"),
        (DISCRETE, Act(-1), "action -1 is out of range"),
        (DISCRETE, Act("yes"), "must be an index"),  # type: ignore[arg-type]
        (DISCRETE, Blend((1.0,)), "Blend does not fit Discrete"),
        (OUTPUT, Act(0), "Act does not fit Continuous"),
        (DISCRETE, If(Condition((1.0, 2.0), 0.0), Act(0), Act(1)), "2 weights for 1 features"),
        (DISCRETE, If(Condition((float("nan"),), 0.0), Act(0), Act(1)), "must be finite"),
        (DISCRETE, If(Condition((1.0,), float("inf")), Act(0), Act(1)), "bias is inf"),
        (DISCRETE, If(Condition(("a",), 0.0), Act(0), Act(1)), "must be a number"),  # type: ignore[arg-type]
        (PRIMITIVES, Blend((0.5, 0.4)), "sum to one"),
        (PRIMITIVES, Blend((1.5, -0.5)), "non-negative"),
        (PRIMITIVES, Blend((1.0,)), "1 weights for 2 primitives"),
        (OUTPUT, Affine(((1.0,), (1.0,)), (0.0,)), "2 rows and 1 biases for 1 outputs"),
        (Signature(X, Discrete(())), Act(0), "at least one name"),
        (Signature(X, Discrete(("if",))), Act(0), "'if' is not an identifier"),
        (Signature((Feature("θ"),), Discrete(("a",))), Act(0), "'θ' is not an identifier"),
        (Signature(X, Continuous(("a",), (), ())), Act(0), "0 low and 0 high bounds"),
        (Signature(X, Continuous(("a",), (0.0,), (1.0,), ("m", "s"))), Act(0), "2 units"),
        (Signature((Feature("x", low=float("nan")),), Discrete(("a",))), Act(0), "not a number"),
    ],
)
def test_invalid_programs_are_refused(signature: Signature, root: Any, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        Program(signature, root)
    assert message in str(caught.value)


def test_numpy_numbers_become_floats() -> None:
    root = If(Condition((np.float32(0.5),), np.float64(-0.0)), Act(np.int64(1)), Act(0))  # type: ignore[arg-type]
    assert "if 0.5*x > 0:" in str(Program(DISCRETE, root))


def test_deep_nesting_is_refused_without_recursion() -> None:
    root: Any = Act(0)
    for _ in range(5000):
        root = If(Condition((1.0,), 0.0), root, Act(1))
    with pytest.raises(ProgramError, match="nests more than 200"):
        Program(DISCRETE, root)


def test_sizes() -> None:
    assert (CHAIN.depth, CHAIN.conditions, CHAIN.coefficients) == (3, 2, 3)


@settings(max_examples=50)
@given(st.lists(st.text(max_size=12), max_size=4))
def test_any_text_becomes_a_unique_identifier(texts: list[str]) -> None:
    found = unique_identifiers(texts)
    assert all(map(is_identifier, found))
    assert len(set(found)) == len(texts)


@pytest.mark.parametrize(
    ("text", "name"),
    [("left-leg 1", "left_leg_1"), ("θ", "unnamed"), ("if", "if_"), ("2nd leg", "n2nd_leg"), ("Höhe", "Hohe")],
)
def test_identifier(text: str, name: str) -> None:
    assert identifier(text) == name


def test_edits() -> None:
    signature = DISCRETE
    assert CHAIN.edit("else", prune=True).root == Act(1)
    assert CHAIN.edit(["else", "then"], prune=True) == parse("if x > 1: yes\nelse: yes", signature)
    assert CHAIN.edit("", swap=True) == parse("if x > 1:\n  if x > 0: no\n  else: yes\nelse: yes", signature)
    assert CHAIN.edit("else", bias=0.5) == parse("if x > 1: yes\nelif x > -0.5: no\nelse: yes", signature)
    assert CHAIN.edit("", weights={"x": 2.0}) == parse("if 2*x > 1: yes\nelif x > 0: no\nelse: yes", signature)
    assert CHAIN.edit("else", replace="no") == parse("if x > 1: yes\nelse: no", signature)
    assert CHAIN.edit("else", replace=Act(0)) == CHAIN.edit("else", replace="no")


@pytest.mark.parametrize(
    ("path", "change", "message"),
    [
        ("", {}, "exactly one of"),
        ("", {"swap": True, "bias": 1.0}, "exactly one of"),
        ("", {"prune": True}, "root cannot be pruned"),
        ("up", {"swap": True}, "neither 'then' nor 'else'"),
        ("then.then", {"swap": True}, "leads beyond the action at 'then'"),
        ("then", {"swap": True}, "is an action, not an if"),
        ("", {"weights": {"y": 1.0}}, "unknown feature 'y'"),
        ("", {"bias": float("nan")}, "must be finite"),
    ],
)
def test_impossible_edits_are_named(path: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(DiprlError) as caught:
        CHAIN.edit(path, **change)
    assert message in str(caught.value)


@settings(max_examples=50)
@given(programs(tame_numbers, (Discrete,)), st.integers(0, 100))
def test_swapping_twice_changes_nothing(program: Program, seed: int) -> None:
    if isinstance(program.root, If):
        assert program.edit(swap=True).edit(swap=True) == program
        features = observations(program, 10, seed)
        swapped = program.edit(swap=True).edit("then", prune=True)
        np.testing.assert_array_equal(swapped.act_batch(features), program.edit("else", prune=True).act_batch(features))

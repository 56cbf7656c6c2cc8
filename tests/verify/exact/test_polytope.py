"""Bounds over polytopes are valid and as tight as a linear program."""

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from diprl.verify.exact.linear import exact
from diprl.verify.exact.polytope import Polytope, axes, upper_bound


@settings(max_examples=50)
@given(st.integers(1, 4), st.integers(0, 8), st.integers(0, 10**6))
def test_certified_bounds_are_valid_and_as_tight_as_a_linear_program(dimensions: int, count: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    rows = np.vstack([axes(dimensions), generator.normal(size=(count, dimensions))])
    offsets = np.abs(generator.normal(size=len(rows))) + 0.1
    objective = generator.normal(size=dimensions)
    bound = upper_bound(Polytope(rows, offsets), exact(objective.tolist()))
    best = -linprog(-objective, A_ub=rows, b_ub=offsets, bounds=(None, None)).fun
    assert bound == pytest.approx(best, rel=1e-9)
    points = generator.uniform(-offsets[1 : 2 * dimensions : 2], offsets[: 2 * dimensions : 2], (200, dimensions))
    for point in points[(points @ rows.T <= offsets).all(axis=1)]:
        assert sum(Fraction(a) * Fraction(b) for a, b in zip(point.tolist(), objective.tolist(), strict=True)) <= bound


def test_an_unbounded_side_gives_an_infinite_bound() -> None:
    polytope = Polytope(axes(2), np.array([inf, 1.0, 1.0, 1.0]))
    assert upper_bound(polytope, (Fraction(1), Fraction(0))) == inf
    assert upper_bound(polytope, (Fraction(-1), Fraction(1))) == 2.0

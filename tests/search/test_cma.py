"""The search strategy on functions whose optimum is known."""

import numpy as np
import pytest

from diprl.search.cma import CMA


def sphere(points: np.ndarray) -> np.ndarray:
    return -np.sum((points - 3.0) ** 2, axis=1)


def ellipsoid(points: np.ndarray) -> np.ndarray:
    return -np.sum(np.array([1.0, 1e2, 1e4]) * points**2, axis=1)


@pytest.mark.parametrize(("function", "optimum"), [(sphere, 3.0), (ellipsoid, 0.0)])
def test_finds_the_optimum(function, optimum):
    search = CMA(np.ones(3), 0.5, population=12, seed=0)
    for _ in range(200):
        candidates = search.ask()
        search.tell(candidates, function(candidates))
    assert search.mean == pytest.approx(np.full(3, optimum), abs=1e-4)


def test_the_same_seed_asks_the_same():
    assert np.array_equal(CMA(np.zeros(4), 1.0, 8, seed=3).ask(), CMA(np.zeros(4), 1.0, 8, seed=3).ask())

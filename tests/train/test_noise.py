"""Noise that lasts."""

import jax.random as jr
import numpy as np
import pytest
from jax.scipy.special import ndtri

from diprl.train.rollout import correlated


@pytest.mark.parametrize("correlation", [0.3, 0.9])
def test_each_number_stays_uniform_and_resembles_the_one_before(correlation: float) -> None:
    noise = np.asarray(correlated(jr.uniform(jr.key(0), (50, 400, 3)), correlation))
    assert noise.min() > 0.0
    assert noise.max() < 1.0
    for step in (0, 20, 49):
        shares = np.histogram(noise[step], bins=4, range=(0, 1))[0] / noise[step].size
        assert np.allclose(shares, 0.25, atol=0.05)
    gaussian = np.asarray(ndtri(noise))
    neighbours = np.corrcoef(gaussian[:-1].ravel(), gaussian[1:].ravel())[0, 1]
    assert neighbours == pytest.approx(correlation, abs=0.03)
    strangers = np.corrcoef(gaussian[:, :200].ravel(), gaussian[:, 200:].ravel())[0, 1]
    assert abs(strangers) < 0.1


def test_without_correlation_nothing_changes() -> None:
    uniform = jr.uniform(jr.key(1), (5, 4, 2))
    assert np.allclose(correlated(uniform, 0.0), uniform, atol=1e-5)

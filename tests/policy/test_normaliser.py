"""Running statistics against NumPy's over everything seen."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from diprl.policy.agent import Normaliser, make_normaliser

update = jax.jit(Normaliser.update)
BATCH = 16


def fed(batches: NDArray[np.float32]) -> Normaliser:
    normaliser = make_normaliser(batches.shape[-1])
    for batch in batches:
        normaliser = update(normaliser, batch)
    return normaliser


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(1, 6), st.floats(-100, 100), st.floats(0.1, 50))
def test_moments_are_those_of_all_views(seed: int, count: int, centre: float, spread: float) -> None:
    views = np.random.default_rng(seed).normal(centre, spread, (count, BATCH, 3)).astype(np.float32)
    normaliser, everything = fed(views), views.reshape(-1, 3).astype(np.float64)
    np.testing.assert_allclose(normaliser.mean, everything.mean(axis=0), rtol=1e-3, atol=1e-3 * spread)
    deviation = np.maximum(everything.std(axis=0), 0.1 * np.ptp(everything, axis=0))
    np.testing.assert_allclose(normaliser.scale, deviation, rtol=1e-2)


def test_the_first_views_pass_unchanged() -> None:
    view = np.array([3.0, -7.0], np.float32)
    np.testing.assert_array_equal(make_normaliser(2)(jnp.asarray(view)), view)


def test_a_constant_feature_is_shifted_but_never_blown_up() -> None:
    views = np.full((4, BATCH, 1), 2.5, np.float32)
    normaliser = fed(views)
    assert float(normaliser.scale[0]) == 1.0
    np.testing.assert_allclose(normaliser(jnp.asarray(views[0, 0])), 0.0, atol=1e-6)


def test_a_rare_event_stays_a_moderate_number() -> None:
    """A flag seen once in many thousand steps would become hundreds of deviations."""
    views = np.zeros((2000, BATCH, 1), np.float32)
    views[1000, 3] = 1.0
    normaliser = fed(views)
    assert float(np.std(views)) < 0.01
    assert float(normaliser(jnp.ones(1, np.float32))[0]) < 10.1


def test_a_constant_feature_stays_as_it_is_whatever_its_value():
    batches = np.full((50, 256, 3), [-0.275, 1e-6, 37.123], np.float32)
    batches[25:, :, 2] = np.nextafter(np.float32(37.123), np.float32(40))  # rounding is no variation
    np.testing.assert_array_equal(fed(batches).scale, 1.0)

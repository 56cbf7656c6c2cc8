"""Bands of several seeds: what a figure shows where runs begin to report, or end, at different steps."""

import numpy as np

from diprl.experiment.figures import Curve, band


def curve(*points: tuple[float, float]) -> Curve:
    steps, values = zip(*points, strict=True)
    return Curve(np.array(steps), np.array(values))


def test_a_run_that_ended_early_keeps_its_last_value() -> None:
    solved_early = curve((10, 0.0), (20, 1.0))
    solved_late = curve((10, 0.0), (20, 0.0), (30, 0.5), (40, 0.8))
    found = band([solved_early, solved_late])
    assert found is not None
    np.testing.assert_allclose(found.steps, [10, 20, 30, 40])
    np.testing.assert_allclose(found.mean, [0.0, 0.5, 0.75, 0.9])
    np.testing.assert_allclose(found.low, [0.0, 0.0, 0.5, 0.8])
    np.testing.assert_allclose(found.high, [0.0, 1.0, 1.0, 1.0])


def test_a_band_begins_where_all_runs_have_reported_and_reads_between_reports() -> None:
    found = band([curve((10, 0.0), (20, 2.0), (30, 4.0)), curve((15, 1.0), (25, 3.0))])
    assert found is not None
    np.testing.assert_allclose(found.steps, [20, 30])
    np.testing.assert_allclose(found.mean, [2.0, 3.5])


def test_curves_without_points_are_left_out() -> None:
    nothing = Curve(np.zeros(0), np.zeros(0))
    assert band([nothing, nothing]) is None
    found = band([nothing, curve((10, 1.0))])
    assert found is not None
    assert found.mean.tolist() == [1.0]

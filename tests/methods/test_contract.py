"""What every method promises, on a probe with a tiny budget."""

import json
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from tests.probes import PROBES
from tests.small import SMALL, small_session

from diprl.arena import episodes
from diprl.arena.reference import program_act
from diprl.methods import ladder, pi_prl, viper
from diprl.methods.presets import changed, preset_settings
from diprl.methods.registry import METHODS, run
from diprl.runs.result import Result
from diprl.runs.stage import Trained
from diprl.runs.trainer import acting

TASK = PROBES["ThresholdProbe"]
TINY = SMALL | {"total_timesteps": 1024}


@pytest.fixture(autouse=True, scope="module")
def _small_imitation() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(viper, "ROUNDS", 3)
        patch.setattr(viper, "TREES", episodes.TREES._replace(on_reference=9))
        patch.setattr(pi_prl, "STAGE_EPISODES", 5)
        patch.setattr(ladder, "GAP", episodes.REPORTS)
        yield


def finish(method: str, seed: int) -> Result:
    settings = changed(preset_settings(method, "default", TASK.name, TASK.budget), **TINY)
    return run(small_session(TASK, settings, seed, method=method))


@cache
def finished(method: str, seed: int) -> Result:
    return finish(method, seed)


def trained(result: Result) -> Trained:
    assert result.trained is not None
    return result.trained


def numbers(result: Result) -> np.ndarray:
    """Everything that was learnt, as one vector."""
    return np.asarray(trained(result).state.vector)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_reports_the_same_fields_as_every_other(method: str) -> None:
    record = finished(method, 0).to_json()
    assert record.keys() == finished("ppo", 0).to_json().keys()
    assert record["steps"] == sum(record["steps_by_purpose"].values())
    json.dumps(record, allow_nan=False)
    assert record["score"]["episodes"] == 5
    assert record["steps"] >= 1024
    assert (record["program"] is None) == (method == "ppo")
    sizes = [record[size] for size in ("depth", "conditions", "coefficients")]
    assert all((size is None) == (method == "ppo") for size in sizes)


@pytest.mark.parametrize("method", METHODS)
def test_a_seed_decides_a_run(method: str) -> None:
    first, again, other = finished(method, 0), finish(method, 0), finished(method, 1)
    np.testing.assert_array_equal(numbers(first), numbers(again))
    assert first.program == again.program
    assert first.score == again.score
    assert not np.array_equal(numbers(first), numbers(other))


@pytest.mark.parametrize("method", ["diprl", "pi-prl", "dtsemnet"])
def test_a_program_does_what_the_trained_policy_does_when_hard(method: str) -> None:
    result = finished(method, 0)
    views = np.random.default_rng(0).uniform(-1.0, 1.0, (500, 1)).astype(np.float32)
    assert result.program is not None
    hard = acting(TASK, trained(result), None)
    np.testing.assert_array_equal(program_act(TASK, result.program)(views), hard(views))


@pytest.mark.parametrize("method", METHODS)
def test_a_result_survives_json(method: str) -> None:
    result = finished(method, 0)
    again = Result.from_json(json.loads(json.dumps(result.to_json())))
    assert again.to_json() == result.to_json()
    assert again.program == result.program
    assert again.spec == result.spec


def test_fine_tuning_keeps_the_shape_it_was_given() -> None:
    result = finished("pi-prl", 0)
    assert result.program is not None
    assert result.extracted is not None
    assert result.program.depth == result.extracted.depth
    assert result.program != result.extracted
    assert result.stages.keys() == {"relaxed", "extracted", "fine_tuned"}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("task", ["CartPole-v1", "Acrobot-v1", "LunarLander-v3", "Unknown-v0"])
def test_every_method_has_settings_for_every_task(method: str, preset: str, task: str) -> None:
    settings = preset_settings(method, preset, task, 4_000_000)
    assert 100_000 < settings.ppo.total_timesteps <= 4_000_000

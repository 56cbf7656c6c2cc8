"""What every method promises, on a probe with a tiny budget."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from tests.probes import PROBES
from tests.small import SMALL

from diprl.methods import base, diprl, pi_prl, viper
from diprl.methods.acting import agent_act
from diprl.methods.registry import METHODS
from diprl.program import Program
from diprl.runner import Finished, Plan, run
from diprl.train.evaluate import program_act

TASK = PROBES["ThresholdProbe"]
TINY = SMALL | {"total_timesteps": 1024}


@pytest.fixture(autouse=True, scope="module")
def _small_imitation() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(viper, "ROUNDS", 3)
        patch.setattr(viper, "SELECTION_EPISODES", 9)
        patch.setattr(pi_prl, "STAGE_EPISODES", 5)
        patch.setattr(diprl, "GAP_EPISODES", base.VALIDATION_EPISODES)
        yield


def finish(method: str, seed: int) -> Finished:
    config = METHODS[method].preset("default", TASK.name, TASK.budget).with_values(**TINY)
    return run(Plan(TASK, method, "default", config, seed, episodes=5))


@cache
def finished(method: str, seed: int) -> Finished:
    return finish(method, seed)


def numbers(outcome: Finished) -> np.ndarray:
    """Everything that was learnt, as one vector."""
    return np.asarray(outcome.outcome.trained.state.vector)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_reports_the_same_fields_as_every_other(method: str) -> None:
    record = finished(method, 0).record()
    assert record.keys() >= finished("ppo", 0).record().keys()
    assert record["score"]["episodes"] == 5
    assert record["steps"] >= 1024
    assert (record["program"] is None) == (method == "ppo")
    sizes = [record[size] for size in ("depth", "conditions", "coefficients")]
    assert all((size is None) == (method == "ppo") for size in sizes)


@pytest.mark.parametrize("method", METHODS)
def test_a_seed_decides_a_run(method: str) -> None:
    first, again, other = finished(method, 0), finish(method, 0), finished(method, 1)
    np.testing.assert_array_equal(numbers(first), numbers(again))
    assert first.outcome.program == again.outcome.program
    assert first.score == again.score
    assert not np.array_equal(numbers(first), numbers(other))


@pytest.mark.parametrize("method", ["diprl", "pi-prl", "dtsemnet"])
def test_a_program_does_what_the_trained_policy_does_when_hard(method: str) -> None:
    outcome = finished(method, 0).outcome
    views = np.random.default_rng(0).uniform(-1.0, 1.0, (500, 1)).astype(np.float32)
    assert outcome.program is not None
    np.testing.assert_array_equal(
        program_act(TASK, outcome.program)(views), agent_act(outcome.trained)(views)
    )


def test_fine_tuning_keeps_the_shape_it_was_given() -> None:
    outcome = finished("pi-prl", 0).outcome
    extracted = Program.from_text(outcome.facts["extracted_program"])
    assert outcome.program is not None
    assert outcome.program.depth == extracted.depth
    assert outcome.program != extracted
    assert outcome.facts["stages"].keys() == {"relaxed", "extracted", "fine_tuned"}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("task", ["CartPole-v1", "Acrobot-v1", "LunarLander-v3", "Unknown-v0"])
def test_every_method_has_settings_for_every_task(method: str, preset: str, task: str) -> None:
    config = METHODS[method].preset(preset, task, 4_000_000)
    assert 100_000 < config.total_timesteps <= 4_000_000

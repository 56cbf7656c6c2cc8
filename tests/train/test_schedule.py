"""Settings over a run: where they begin, where they end, and that they move one way."""

import jax
import numpy as np
import pytest

from diprl.errors import DiprlError
from diprl.methods.presets import preset_settings
from diprl.train import schedule
from diprl.train.settings import Settings

SETTINGS = Settings()
PAPER = preset_settings("diprl", "paper", "CartPole-v1", 2_000_000)
PROGRESS = np.linspace(0.0, 1.0, 101).astype(np.float32)


def over_a_run(settings: Settings) -> dict[str, np.ndarray]:
    numbers = settings.numbers()
    temperatures = jax.jit(jax.vmap(lambda p: schedule.temperatures(numbers, p)))(PROGRESS)
    alpha = jax.jit(jax.vmap(lambda p: schedule.ramped_alpha(numbers, p)))(PROGRESS)
    return {name: np.asarray(value) for name, value in {**temperatures._asdict(), "alpha": alpha}.items()}


def test_everything_begins_soft_and_ends_hard() -> None:
    run = over_a_run(SETTINGS)
    assert run["architecture"][0] == 1.0
    assert run["condition"][0] == SETTINGS.program.condition_temperature
    assert run["terminal"][0] == SETTINGS.program.terminal_temperature
    assert run["architecture"][-1] <= SETTINGS.program.architecture_temperature_end * 1.0001
    assert run["condition"][-1] <= SETTINGS.program.condition_temperature_end * 1.0001
    assert run["terminal"][-1] <= SETTINGS.program.terminal_temperature_end * 1.0001
    assert (run["alpha"][0], run["alpha"][-1]) == (
        SETTINGS.program.alpha,
        SETTINGS.program.alpha + SETTINGS.program.alpha_ramp,
    )


@pytest.mark.parametrize("name", ["architecture", "condition", "terminal"])
def test_temperatures_only_fall(name: str) -> None:
    values = over_a_run(SETTINGS)[name]
    assert np.all(np.diff(values) <= 1e-7)
    assert np.all(values > 0)


def test_alpha_is_zero_before_its_ramp_and_quadratic_on_it() -> None:
    alpha = over_a_run(Settings().with_values(alpha=0.0, alpha_ramp=2.0, architecture_from=0.2, architecture_to=0.6))[
        "alpha"
    ]
    np.testing.assert_array_equal(alpha[:20], 0.0)
    assert alpha[40] == pytest.approx(2.0 * 0.5**2, rel=1e-4)
    np.testing.assert_allclose(alpha[60:], 2.0, rtol=1e-5)


def test_the_paper_keeps_its_temperatures() -> None:
    run = over_a_run(PAPER)
    for name in ("architecture", "condition", "terminal"):
        np.testing.assert_allclose(run[name], run[name][0], rtol=1e-6)
    assert not run["alpha"].any()


def test_linear_and_geometric_meet_their_ends() -> None:
    assert float(schedule.linear(3.0, 1.0, 0.25)) == 2.5
    assert float(schedule.geometric(1.0, 0.01, 0.5)) == pytest.approx(0.1)
    assert float(schedule.span(0.5, 0.5, 0.5)) in (0.0, 1.0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"max_depth": 0}, "max_depth must be positive, not 0"),
        ({"total_timesteps": -1}, "total_timesteps must be positive, not -1"),
        ({"minibatch_size": 1_000_000}, "minibatch_size 1000000 is larger than the rollout"),
        ({"minibatch_size": 100}, "minibatch_size 100 does not divide the rollout of 4096"),
        ({"gamma": 1.5}, "gamma must lie between 0 and 1, not 1.5"),
        ({"alpha": -0.1}, "alpha must not be negative, got -0.1"),
        ({"learning_rate": float("nan")}, "learning_rate must be a number of at most 1e\\+15, not nan"),
        ({"learning_rate": float("inf")}, "learning_rate must be a number of at most 1e\\+15, not inf"),
        ({"num_envs": "many"}, "num_envs must be a number, not 'many'"),
        ({"num_envs": 2.5}, "num_envs must be a whole number, not 2.5"),
        ({"normalise": 3}, "normalise must be True or False, not 3"),
        ({"learning_rat": 1.0}, "unknown setting 'learning_rat': did you mean learning_rate"),
    ],
)
def test_impossible_settings_name_field_value_and_fix(values: dict[str, object], message: str) -> None:
    with pytest.raises(DiprlError, match=message):
        SETTINGS.with_values(**values)


def test_budgets_round_up_to_whole_rollouts() -> None:
    ppo = Settings().with_values(total_timesteps=4097, num_envs=32, num_steps=128).ppo
    assert ppo.num_rollouts == 2


def test_runs_that_differ_in_traced_settings_share_a_compilation() -> None:
    changed = SETTINGS.with_values(learning_rate=0.5, gamma=0.5, total_timesteps=1)
    assert changed.compiled() == SETTINGS.compiled()
    assert SETTINGS.with_values(num_envs=64).compiled() != SETTINGS.compiled()

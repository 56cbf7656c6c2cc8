"""Settings as data: the paper's values one by one, where each file's values come from, and nothing changed silently."""

import tomllib
from pathlib import Path

import pytest

from diprl.errors import DiprlError
from diprl.methods.presets import FOLDER, PRESETS, candidates, changed, preset_settings, settings_for
from diprl.methods.registry import METHODS
from diprl.tasks.registry import load_task
from diprl.train.settings import FIELDS, Settings

FILES = sorted(FOLDER.rglob("*.toml"))
PAPER = {
    "total_timesteps": 1_234_567, "num_envs": 8, "num_steps": 512, "minibatch_size": 64, "num_epochs": 10,
    "hidden_size": 64, "normalise": False, "scale_rewards": False, "deviation": 0.6, "noise_correlation": 0.0,
    "learning_rate": 1e-3, "learning_rate_end": 1e-3, "clip_range": 0.1, "clip_range_end": 0.0,
    "entropy_coefficient": 0.01, "entropy_coefficient_end": 0.01, "gamma": 0.99, "gae_lambda": 0.95,
    "value_coefficient": 0.5, "max_grad_norm": 0.5,
    "members": 1, "polish_share": 0.0, "thin_share": 0.0, "max_numbers": 0, "max_conditions": 0,
    "max_depth": 6, "architecture_period": 5, "choose_primitives": False,
    "idle_turns": True, "mix_logits": False, "terminal_spread": 0.1, "keep_action_weights": False,
    "dual_epsilon": 1e-5, "quiet": False, "candidates": 1, "directions": 0,
    "statistics_until": 1.0, "leaf_balance": 0.0, "leaf_difference": 1.0,
    "feature_entropy": 0.0, "enough_features": 0.0, "support_at": 0.5, "smallest_share": 0.05,
    "alpha": 0.0, "alpha_ramp": 0.0, "alpha_dual": 1e-4, "target_entropy": 0.1,
    "architecture_from": 0.1, "architecture_to": 0.6, "architecture_temperature_end": 1.0,
    "condition_temperature": 1.0, "condition_temperature_end": 1.0, "harden_from": 0.2, "harden_to": 0.8,
    "terminal_temperature": 0.25, "terminal_temperature_end": 0.25,
    "settle_from": 0.85, "settle_temperature": 1.0, "settle_terminals": 1.0,
}  # fmt: skip
"""The paper and its release: 8 × 512 steps, phases of 1 and 4 rollouts, dual ascent, constant temperatures."""


def test_every_value_of_the_paper_preset() -> None:
    assert preset_settings("diprl", "paper", "CartPole-v1", 1_234_567).values() == PAPER


@pytest.mark.parametrize("method", METHODS)
def test_the_paper_preset_of_other_methods_differs_where_they_do(method: str) -> None:
    values = preset_settings(method, "paper", "Unknown-v0", 1_234_567).values()
    different = {name for name in PAPER if values[name] != PAPER[name]}
    assert different <= ({"alpha_dual", "keep_action_weights"} if method == "pi-prl" else set())


def test_the_release_differs_from_the_paper_in_these_values_alone() -> None:
    values = preset_settings("diprl", "release", "CartPole-v1", 1_234_567).values()
    assert {name: value for name, value in values.items() if value != PAPER[name]} == {
        "max_depth": 5,
        "idle_turns": False,
        "mix_logits": True,
        "terminal_spread": 1.0,
        "dual_epsilon": 1e-8,
    }


def test_a_method_that_the_release_has_no_settings_for_is_refused() -> None:
    with pytest.raises(DiprlError, match="the preset release has no settings for viper"):
        preset_settings("viper", "release", "CartPole-v1", 1_234_567)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_file_names_known_settings_and_where_they_come_from(path: Path) -> None:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    method, preset, _ = path.relative_to(FOLDER).parts
    assert method in METHODS
    assert preset in PRESETS
    assert content.keys() <= {"base", "provenance", "settings", "at_least"}
    assert len(content["provenance"]["source"]) > 10
    assert content["settings"].keys() | content.get("at_least", {}).keys() <= FIELDS.keys()
    assert content.get("base", "none") in {*METHODS, "none"}


def test_copying_changes_what_is_asked_and_nothing_else() -> None:
    settings = Settings().with_values(members=5, total_timesteps=1_000_000)
    smaller = settings.with_values(total_timesteps=100_000)
    assert smaller.values() == settings.values() | {"total_timesteps": 100_000}


@pytest.mark.parametrize(("budget", "members"), [(1_500_000, 5), (3_000_000, 5), (900_000, 3), (299_999, 1), (1, 1)])
def test_a_smaller_budget_has_room_for_fewer_members(budget: int, members: int) -> None:
    cart_pole = preset_settings("diprl", "default", "CartPole-v1", 2_000_000)
    assert cart_pole.program.members == 5
    assert changed(cart_pole, total_timesteps=budget).program.members == members
    assert changed(cart_pole, total_timesteps=budget, members=4).program.members == 4


@pytest.mark.parametrize(
    ("budget", "num_envs", "minibatch_size"),
    [(1000, 8, 128), (300_000, 8, 128), (1_000_000, 16, 256), (2_000_000, 32, 256), (10**9, 32, 256)],
)
def test_a_small_budget_has_small_rollouts(budget: int, num_envs: int, minibatch_size: int) -> None:
    ppo = settings_for("diprl", "default", load_task("Pendulum-v1"), total_timesteps=budget).ppo
    assert (ppo.num_envs, ppo.minibatch_size) == (num_envs, minibatch_size)
    assert ppo.scale_rewards
    assert ppo.quiet


def test_only_an_environment_without_settings_of_its_own_gets_them_by_rule() -> None:
    tuned, own = load_task("CartPole-v1"), load_task("FrozenLake-v1")
    assert settings_for("diprl", "default", tuned) == preset_settings("diprl", "default", "CartPole-v1", tuned.budget)
    assert not settings_for("diprl", "paper", own).ppo.quiet
    values = settings_for("diprl", "default", own).values()
    assert not values["normalise"]
    assert values["feature_entropy"] == 0.0


def test_settings_are_tried_unless_the_user_gives_one_of_them_or_the_budget_is_small() -> None:
    task = load_task("Pendulum-v1")
    count = len(candidates(task))
    assert count > 1
    tried = [
        settings_for("diprl", "default", task, **given).program.candidates
        for given in ({}, {"num_steps": 64}, {"gamma": 0.9}, {"members": 2}, {"total_timesteps": 50_000})
    ]
    assert tried == [count, count, 1, 1, 1]


def test_who_looks_far_ahead_sees_ten_episodes_of_any_length() -> None:
    for name, horizon in (("Pendulum-v1", 200), ("InvertedPendulum-v5", 1000)):
        assert 1 - 0.1 / horizon in [choice.get("gamma") for choice in candidates(load_task(name))]

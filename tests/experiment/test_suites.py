"""Which runs the experiments consist of."""

from dataclasses import replace
from pathlib import Path

import pytest

from diprl.errors import DiprlError
from diprl.experiment.request import Request
from diprl.experiment.suites import DISCRETE, SEEDS, SUITES, find_suites, requested_runs
from diprl.experiment.vmap import batch_key, fits
from diprl.methods.presets import PRESETS, preset_settings
from diprl.tasks.twins.table import TWIN_TASKS


def test_table_one_is_every_method_on_every_discrete_task_and_seed() -> None:
    runs = [run for run in SUITES["discrete"].runs(Request()) if not run.variant]
    assert len(runs) == 5 * len(DISCRETE) * len(SEEDS)
    assert len({run.key for run in runs}) == len(runs)


def test_the_alpha_ablation_of_a_task_is_one_batch() -> None:
    for preset in ("default", "paper"):
        runs = SUITES["alpha"].runs(Request(preset=preset, tasks="Acrobot-v1"))
        assert len(runs) == 18
        assert len({batch_key(run) for run in runs}) == 1
        assert {run.settings.program.alpha for run in runs} == {0.0, 0.001, 0.01, 0.1, 0.5}
        fixed = [run for run in runs if run.variant != "auto"]
        assert {(run.settings.program.alpha_ramp, run.settings.program.alpha_dual) for run in fixed} == {(0.0, 0.0)}


@pytest.mark.parametrize("name", ["alpha", "target-entropy"])
def test_an_ablation_lets_nothing_but_its_setting_act(name: str) -> None:
    runs = SUITES[name].runs(Request())
    assert {(run.settings.program.members, run.settings.program.polish_share) for run in runs} == {(1, 0.0)}
    driven = [run for run in runs if run.variant != "auto"]
    sharpened = {
        (run.settings.program.architecture_temperature_end, run.settings.program.settle_temperature) for run in driven
    }
    assert sharpened == {(1.0, 1.0)}
    assert all(fits(run) for run in runs if run.task in TWIN_TASKS)


def test_automatic_alpha_is_the_run_of_table_one() -> None:
    request = Request(preset="paper", methods="diprl", tasks="Acrobot-v1")
    automatic = {run.key for run in SUITES["alpha"].runs(request) if run.variant == "auto"}
    assert automatic == {run.key for run in SUITES["discrete"].runs(request)}


def test_the_papers_target_is_the_papers_preset() -> None:
    request = Request(preset="paper", methods="diprl", tasks="Acrobot-v1")
    targeted = {run.key for run in SUITES["target-entropy"].runs(request) if run.variant == "0.1"}
    assert targeted == {run.key for run in SUITES["discrete"].runs(request)}


def test_plain_diprl_has_the_settings_of_a_baseline_and_only_with_ours() -> None:
    request = Request(tasks="LunarLander-v3", seeds="1")
    (run,) = [run for run in SUITES["discrete"].runs(request) if run.variant]
    baseline = preset_settings("dtsemnet", "default", "LunarLander-v3", 4_000_000)
    assert (run.method, run.variant) == ("diprl", "plain")
    assert run.settings == baseline.with_values(members=1, polish_share=0.0, max_depth=6)
    assert not [run for run in SUITES["discrete"].runs(replace(request, preset="paper")) if run.variant]


def test_the_ladder_compares_all_presets_with_many_seeds() -> None:
    runs = SUITES["ladder"].runs(Request())
    for task in DISCRETE:
        seeds = 30 if task in TWIN_TASKS else 10
        part = [run for run in runs if run.task == task]
        assert [run.preset for run in part] == [preset for preset in PRESETS for _ in range(seeds)]
        assert len({batch_key(run) for run in part}) == 3
    assert all(fits(run) for run in runs if run.task in TWIN_TASKS)


def test_the_papers_ants_train_on_what_they_are_scored_on() -> None:
    runs = SUITES["continuous"].runs(Request(preset="paper", methods="diprl", seeds="1"))
    assert [run.task for run in runs] == [
        "HalfCheetahHurdle",
        "Pusher2D",
        "AntRandomGoal-return",
        "AntCrossMaze-unmodified",
    ]


def test_the_release_has_runs_of_the_methods_it_has_settings_for() -> None:
    runs = SUITES["discrete"].runs(Request(preset="release"))
    assert {run.method for run in runs} == {"ppo", "pi-prl", "diprl"}


def test_quick_runs_are_small_and_apart() -> None:
    quick = SUITES["discrete"].runs(Request(quick=True))
    assert max(run.settings.ppo.total_timesteps for run in quick) < 10_000
    assert not {run.key for run in quick} & {run.key for run in SUITES["discrete"].runs(Request())}


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request(preset="papr"), "did you mean paper"),
        (Request(methods="dprl"), "did you mean diprl"),
        (Request(tasks="Pusher2D"), "unknown task of this experiment"),
    ],
)
def test_a_misspelt_request_answers_with_the_nearest(request_: Request, message: str) -> None:
    with pytest.raises(DiprlError, match=message):
        requested_runs([SUITES["discrete"]], request_)


def test_each_experiment_takes_its_part_of_a_request() -> None:
    request = Request(tasks="CartPole-v1,Pusher2D", methods="ppo, diprl", seeds="1")
    parts = {suite.name: runs for suite, runs in requested_runs(find_suites("all"), request)}
    assert [(run.task, run.method) for run in parts["depth"]] == [("CartPole-v1", "diprl"), ("Pusher2D", "diprl")]
    assert {run.task for run in parts["continuous"]} == {"Pusher2D"}
    assert "failure" not in parts


def test_a_page_names_the_command_that_makes_it_again() -> None:
    assert Request().command("depth") == "diprl reproduce depth --executor none"
    request = Request(preset="both", methods="diprl", seeds="0:2", quick=True, out=Path("my results"))
    options = "--quick --preset both --methods diprl --seeds 0:2 --out 'my results' --executor none"
    assert request.command("alpha") == f"diprl reproduce alpha {options}"


def test_all_is_every_experiment() -> None:
    assert [suite.name for suite in find_suites("all")] == [name for name in SUITES if name != "untuned"]


def test_environments_that_nobody_tuned_get_their_settings_by_rule() -> None:
    runs = SUITES["untuned"].runs(Request(tasks="FrozenLake-v1,Pendulum-v1", methods="diprl"))
    assert [(run.task, run.variant) for run in runs if run.seed == 0] == [
        ("FrozenLake-v1", ""), ("Pendulum-v1", ""), ("Pendulum-v1", "linear"),
    ]  # fmt: skip
    linear = [run.settings for run in runs if run.variant]
    assert {(each.program.max_depth, each.program.directions, each.program.candidates) for each in linear} == {
        (1, 8, 1)
    }
    assert {(run.task, run.settings.ppo.total_timesteps) for run in runs} == {
        ("FrozenLake-v1", 300_000), ("Pendulum-v1", 1_000_000),
    }  # fmt: skip
    assert all(run.settings.ppo.quiet for run in runs)
    with pytest.raises(DiprlError, match="alpha"):
        find_suites("alfa")

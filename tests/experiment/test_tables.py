"""Tables from made-up records: exact text, and whatever is missing stays visible."""

from pathlib import Path

import pytest

from diprl.experiment.results import results_of
from diprl.experiment.suites import SUITES
from diprl.experiment.tables import (
    TABLES,
    aggregates,
    between,
    comparison,
    latex,
    line_scores,
    markdown,
    published,
    published_range,
    seed_points,
)
from tests.experiment.fixtures import example_results, make_record, make_run

GOLDEN = Path(__file__).with_name("golden")
RETURNS = TABLES["discrete"][0]


def test_markdown_is_what_it_was() -> None:
    assert markdown(comparison(RETURNS, example_results())) == (GOLDEN / "discrete.md").read_text()


def test_latex_is_what_it_was() -> None:
    assert latex(comparison(RETURNS, example_results())) == (GOLDEN / "discrete.tex").read_text()


def test_a_missing_seed_is_shown_as_missing() -> None:
    rows = {(row[0], row[2]): row for row in seed_points(RETURNS, example_results()).rows}
    assert rows["DiPRL", "Acrobot-v1"][3:] == ("−80.00", "−70.00", "missing")
    assert rows["pi-PRL", "CartPole-v1"][3:] == ("missing",) * 3
    table = comparison(RETURNS, example_results())
    ours = next(row for row in table.rows if row[0] == "DiPRL")
    assert ours[2:] == ("500.00 ± 0.00", "−75.00 ± 5.00 (2 of 3 seeds)")


def test_methods_that_were_not_asked_for_have_no_rows() -> None:
    labels = {row[0] for row in comparison(RETURNS, example_results()).rows}
    assert labels == {"pi-PRL (relaxed)", "pi-PRL (extracted)", "pi-PRL", "DiPRL", ""}


def test_aggregates_by_hand() -> None:
    rows = {row[0]: row for row in aggregates(RETURNS, example_results()).rows}
    low, high = -89.37, -62.57  # the paper's lowest and highest mean on Acrobot
    expected = (-100.0 - low) / (high - low)
    assert rows["pi-PRL (extracted)"][2].startswith(f"{expected:.2f}".replace("-", "−"))
    assert rows["pi-PRL (extracted)"][3:] == ("1.00 [1.00, 1.00]", "1 of 2")
    assert rows["DiPRL"][3:] == ("–", "2 of 2")


def test_scores_are_normalised_by_the_papers_lowest_and_highest_mean() -> None:
    low, high = published_range("Acrobot-v1")
    runs = [make_run(task="Acrobot-v1", seed=seed) for seed in (1, 2, 3)]
    means = (low, (low + high) / 2, high)
    records = {run.key: make_record(run, mean) for run, mean in zip(runs, means, strict=True)}
    assert line_scores(RETURNS.lines[-1], results_of(runs, records)) == {"Acrobot-v1": pytest.approx([0.0, 0.5, 1.0])}


def test_returns_between_random_actions_and_the_best_by_hand() -> None:
    lines = [("random", ""), ("sb3-ppo", ""), ("diprl", "linear"), ("diprl", "")]
    means = {"Hopper-v5": (20.0, 1020.0, 520.0, 970.0), "Taxi-v4": (-700.0, 0.0, None, -350.0), "Ant-v5": (-60.0,)}
    records, runs = {}, []
    for task, values in means.items():
        for (method, variant), mean in zip(lines, (*values, *[None] * 3), strict=False):
            runs.append(make_run(method, task, variant=variant))
            records |= {} if mean is None else {runs[-1].key: make_record(runs[-1], mean)}
    assert between(TABLES["untuned"][0], results_of(runs, records)).rows == (
        ("Hopper-v5", "1.00", "0.50", "0.95"),
        ("Taxi-v4", "1.00", "missing", "0.50"),
        ("Ant-v5", "missing", "missing", "missing"),
        ("as good as PPO of Stable-Baselines3", "–", "0 of 1", "0 of 2"),
        ("at most 0.1 below it", "–", "0 of 1", "1 of 2"),
    )


def test_an_ablation_takes_each_setting_from_its_own_runs() -> None:
    runs = [make_run(variant=variant) for variant in ("0", "0.5", "auto")]
    records = {runs[0].key: make_record(runs[0], 10.0), runs[1].key: make_record(runs[1], 20.0)}
    table = comparison(TABLES["alpha"][0], results_of(runs, records))
    ours = {row[0]: row[2] for row in table.rows if row[1] == "ours"}
    assert ours["α = 0, relaxed"] == "11.00 ± 0.00"
    assert ours["α = 0.5, extracted"] == "20.00 ± 0.00"
    assert ours["α = auto, extracted"] == "missing"


def test_every_line_of_every_table_is_in_the_paper_or_says_it_is_not() -> None:
    for name, tables in TABLES.items():
        lines = [line for table in tables for line in table.lines if line.paper]
        assert lines or name == "untuned"
        for line in lines:
            assert all(published(*line.paper, task=task) for task in SUITES[name].tasks), line


def test_the_tables_know_every_method_and_variant_of_their_experiment() -> None:
    for name, suite in SUITES.items():
        lines = [line for table in TABLES[name] for line in table.lines]
        assert {line.method for line in lines} == set(suite.methods)
        assert {line.variant for line in lines} == set(suite.variants)

"""From a request to files, with made-up runs."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from diprl.errors import DiprlError
from diprl.experiment.figures import FIGURES, write_figures
from diprl.experiment.grid import Announce, Grid, Record, Store
from diprl.experiment.reproduce import merge, reproduce
from diprl.experiment.request import Request
from diprl.experiment.results import Results, results_of
from diprl.experiment.suites import SUITES
from diprl.experiment.tables import published_range
from tests.experiment.fixtures import example_results, make_record, make_run, staged

REQUEST = Request(tasks="CartPole-v1,Acrobot-v1,MountainCar-v0", quick=True)


def invent(grid: Grid, announce: Announce) -> dict[str, str]:
    """Stands in for training: plausible records for all runs but those of VIPER."""

    def record(run: object) -> Record:
        low, high = published_range(run.task)  # type: ignore[attr-defined]
        middle = (low + high) / 2
        return staged(run, high, low, middle) if run.method == "pi-prl" else make_record(run, middle)  # type: ignore[attr-defined]

    grid.store.extend([record(run) for run in grid.runs if run.method != "viper"])
    return {}


def test_every_experiment_writes_its_page_tables_and_figures(tmp_path: Path) -> None:
    suites = [SUITES[name] for name in ("discrete", "seeds", "alpha", "target-entropy", "entropy", "depth", "failure")]
    reports, failures = reproduce(suites, replace(REQUEST, out=tmp_path), invent, lambda _: None)
    assert not failures
    for suite, report in zip(suites, reports, strict=True):
        assert report.folder == tmp_path / "quick" / f"{suite.name}-default"
        assert (report.folder / "README.md").read_text() == report.text
        assert list(report.folder.glob("*.tex"))
        for name in FIGURES[suite.name]:
            assert (report.folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
            assert ElementTree.parse(report.folder / f"{name}.svg").getroot().tag.endswith("svg")
    assert "15 of 18 runs done, 3 missing." in reports[0].text


def test_a_page_shows_every_method_whichever_were_asked_for(tmp_path: Path) -> None:
    request = replace(REQUEST, out=tmp_path, methods="diprl", preset="both")
    reports, _ = reproduce([SUITES["discrete"]], request, invent, lambda _: None)
    assert [report.folder.name for report in reports] == ["discrete-default", "discrete-paper"]
    assert "6 of 18 runs done, 12 missing." in reports[0].text
    assert re.search(r"^\| PPO +\| ours +\| missing", reports[0].text, re.MULTILINE)
    assert "--methods" not in reports[0].text


def test_the_ladder_is_one_page_for_all_presets(tmp_path: Path) -> None:
    request = replace(REQUEST, out=tmp_path, preset="release")
    (report,), _ = reproduce([SUITES["ladder"]], request, invent, lambda _: None)
    assert report.folder == tmp_path / "quick" / "ladder"
    assert report.results.presets == ("default", "paper", "release")
    assert "3 of 9 runs done, 6 missing." in report.text
    assert re.search(r"^\| depth only, greedy \[release\] +\| ours +\| 413.88 ± 0.00", report.text, re.MULTILINE)
    assert "Made by `diprl reproduce ladder --quick " in report.text
    assert (report.folder / "ladder.svg").exists()


def test_figures_are_the_same_each_time_and_show_nothing_where_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for folder in (tmp_path / "a", tmp_path / "b"):
        write_figures("discrete", example_results(), folder)
    assert (tmp_path / "a" / "returns.svg").read_bytes() == (tmp_path / "b" / "returns.svg").read_bytes()
    empty = results_of([make_run()], {})
    assert isinstance(empty, Results)
    write_figures("discrete", empty, tmp_path)
    assert {path.stem for path in tmp_path.glob("*.svg")} == set(FIGURES["discrete"])


def test_records_of_another_machine_are_taken_over_once(tmp_path: Path) -> None:
    Store(tmp_path / "far").append({"key": "a"})
    assert merge(tmp_path / "here", [tmp_path / "far"]) == 1
    assert merge(tmp_path / "here", [tmp_path / "far" / "records.jsonl"]) == 0
    with pytest.raises(DiprlError, match=r"holds no records\.jsonl"):
        merge(tmp_path / "here", [tmp_path / "nowhere"])


def test_a_request_that_no_experiment_meets_is_refused(tmp_path: Path) -> None:
    suites = [SUITES["alpha"], SUITES["continuous"]]
    request = Request(tasks="CartPole-v1", methods="ppo", out=tmp_path)
    with pytest.raises(DiprlError, match="no experiment has"):
        reproduce(suites, request, invent, lambda _: None)

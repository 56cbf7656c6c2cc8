"""Run folders: what is written, and that an interrupted run ends exactly like an uninterrupted one."""

import fcntl
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from rich.console import Console
from tests.counters import Counter
from tests.small import ROLLOUT, SMALL, probe

from diprl.display import Display
from diprl.errors import DiprlError, NotFiniteError
from diprl.runner import Plan, run, run_seeds
from diprl.runs import free_folder
from diprl.tasks.base import Task
from diprl.tasks.registry import load_task
from diprl.train.config import Config
from diprl.train.observers import MetricsLog, read_rows
from diprl.train.snapshot import Snapshot

CONFIG = Config(total_timesteps=12 * ROLLOUT, learning_rate=0.02, **SMALL)


def plan(folder: Path | None, **options: Any) -> Plan:
    return Plan(probe("ThresholdProbe"), "diprl", "default", CONFIG, 7, folder, **{"episodes": 5, **options})


class Stop(Exception):
    """Ends a run from outside."""


def stop_at(steps: int) -> Any:
    def observe(snapshot: Snapshot) -> None:
        if snapshot.steps >= steps:
            raise Stop

    return observe


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, probes_by_name: None) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    run(plan(folder))
    return folder


def figures(folder: Path) -> list[dict[str, Any]]:
    """All that was measured, but for how fast."""
    return [{k: v for k, v in row.items() if k != "time/fps"} for row in read_rows(folder / "metrics.jsonl")]


def test_a_folder_holds_everything_about_its_run(whole: Path) -> None:
    names = {
        "config.json",
        "metrics.csv",
        "metrics.jsonl",
        "checkpoint",
        "program.txt",
        "program.json",
        "result.json",
    }
    assert names <= {file.name for file in whole.iterdir()}
    config = json.loads((whole / "config.json").read_text())
    assert (config["task"], config["method"], config["seed"]) == ("ThresholdProbe", "diprl", 7)
    assert Config(**config["settings"]) == CONFIG
    result = json.loads((whole / "result.json").read_text())
    assert len(result["returns"]) == result["score"]["episodes"] == 5
    assert result["program"] == (whole / "program.txt").read_text()


def test_metrics_are_the_same_in_both_forms(whole: Path) -> None:
    import csv

    with open(whole / "metrics.csv", newline="") as file:
        table = list(csv.DictReader(file))
    rows = read_rows(whole / "metrics.jsonl")
    assert len(table) == len(rows) == 12
    assert [float(row["time/total_timesteps"]) for row in table] == [ROLLOUT * (i + 1) for i in range(12)]
    assert [float(row["eval/program"]) for row in table] == [row["eval/program"] for row in rows]


def test_a_resumed_run_ends_bit_for_bit_like_an_uninterrupted_one(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    for steps in (3 * ROLLOUT, 8 * ROLLOUT):
        with pytest.raises(Stop):
            run(plan(folder, resume=folder.exists(), observers=(stop_at(steps),)))
        assert not (folder / "result.json").exists()
    run(plan(folder, resume=True))
    for name in ("program.json", "program.txt", "checkpoint"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name
    assert figures(folder) == figures(whole)


def test_a_finished_run_is_only_scored_again(whole: Path) -> None:
    before = {name: (whole / name).read_bytes() for name in ("program.json", "checkpoint", "metrics.jsonl")}
    seen: list[Snapshot] = []
    again = run(plan(whole, resume=True, episodes=3, observers=(seen.append,)))
    assert seen == []
    assert len(again.score.returns) == 3
    assert before == {name: (whole / name).read_bytes() for name in before}


def test_a_folder_with_a_run_is_not_overwritten(whole: Path) -> None:
    with pytest.raises(DiprlError, match="already holds a run: choose another --out"):
        run(plan(whole))


def test_a_second_process_is_refused(whole: Path) -> None:
    with open(whole / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(DiprlError, match="another run is writing to"):
            run(plan(whole, resume=True))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"episodes": 0}, "episodes must be at least 1, not 0"),
        ({"backend": "asink"}, "unknown backend 'asink': did you mean async"),
    ],
)
def test_impossible_plans_are_refused_before_anything_happens(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DiprlError, match=message):
        plan(None, **options)


def test_free_folders_are_numbered(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run-2").mkdir()
    assert free_folder(tmp_path, "run") == tmp_path / "run-3"


def test_seeds_in_threads_equal_seeds_one_by_one(tmp_path: Path) -> None:
    plans = [replace(plan(None), seed=seed, folder=tmp_path / str(seed)) for seed in (1, 2, 3)]
    together = run_seeds(plans, 3, lambda _: None)
    assert [one.plan.seed for one in together] == [1, 2, 3]
    alone = run(replace(plans[1], folder=None))
    assert together[1].outcome.program == alone.outcome.program
    assert together[1].score == alone.score


def test_a_log_cut_short_by_a_crash_goes_on(tmp_path: Path) -> None:
    rows = [{"time/total_timesteps": float(step), "x": step / 3} for step in (1, 2, 3)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "metrics.jsonl").write_text(text[:-7])
    assert MetricsLog(tmp_path, from_step=2).rows == rows[:2]
    assert MetricsLog(tmp_path, from_step=1).rows == rows[:1]
    assert (tmp_path / "metrics.csv").read_text().splitlines() == [
        "time/total_timesteps,x",
        "1.0,0.3333333333333333",
    ]


class Fading(Counter):
    """Shows numbers until so many steps have been made in all, then none."""

    left = 0

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = super().step(action)
        Fading.left -= 1
        return (observation if Fading.left > 0 else observation * np.nan), reward, terminated, truncated, info


@cache
def fading_task() -> Task:
    return load_task(lambda: gym.wrappers.TimeLimit(Fading(), 3))


FADING = Config(
    **SMALL | {"total_timesteps": 640, "num_envs": 4, "num_steps": 8, "minibatch_size": 32, "max_depth": 2}
)


@pytest.mark.parametrize("good_rollouts", [0, 2])
def test_a_number_that_is_none_stops_the_run_and_keeps_its_checkpoint(
    tmp_path: Path, good_rollouts: int
) -> None:
    # A snapshot after each rollout plays some episodes of its own, all of them three steps long.
    Fading.left = good_rollouts * (32 + 200) + 10
    fading = Plan(fading_task(), "diprl", "default", FADING, 0, tmp_path / "run", backend="sync")
    with pytest.raises(NotFiniteError, match=r"observation.*not finite|not finite.*observation"):
        run(fading)
    assert (tmp_path / "run" / "checkpoint").exists() == (good_rollouts > 0)
    assert (tmp_path / "run").exists() == (good_rollouts > 0)


def snapshot(seed: int, steps: int) -> Snapshot:
    metrics = {"eval/program": 1.0, "eval/relaxed": 1.0, "time/fps": 10.0}
    return Snapshot(probe("ThresholdProbe"), "diprl", seed, steps, 100, 1.0, metrics, None, lambda _: None)


@pytest.mark.parametrize("terminal", [True, False])
def test_the_display_serves_many_threads(terminal: bool, capsys: pytest.CaptureFixture[str]) -> None:
    failures: list[Exception] = []

    def report(seed: int, display: Display) -> None:
        try:
            for steps in range(10, 101, 10):
                display(snapshot(seed, steps))
        except Exception as error:
            failures.append(error)

    with Display(Console(stderr=True, force_terminal=terminal, width=80)) as display:
        threads = [Thread(target=report, args=(seed, display)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
    if not terminal:
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 40
        assert all(line.startswith("seed ") for line in lines)

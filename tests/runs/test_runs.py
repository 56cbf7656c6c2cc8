"""Run folders: what is written, and that an interrupted run ends exactly like an uninterrupted one."""

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

from diprl.errors import DiprlError, NotFiniteError
from diprl.methods.registry import run, run_all
from diprl.runs.folder import free_folder
from diprl.runs.observers import MetricsLog, Snapshot, read_rows
from diprl.runs.session import Session
from diprl.runs.spec import RunSpec
from diprl.system.processes import try_lock
from diprl.tasks.base import Task
from diprl.tasks.registry import load_task
from diprl.terminal.progress import Display
from diprl.train.settings import Settings
from tests.counters import Counter
from tests.small import ROLLOUT, probe, small_session, small_settings

SETTINGS = small_settings(total_timesteps=12 * ROLLOUT, learning_rate=0.02)


def session(folder: Path | None, **options: Any) -> Session:
    return small_session(probe("ThresholdProbe"), SETTINGS, 7, folder=folder, **options)


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
    run(session(folder))
    return folder


def figures(folder: Path) -> list[dict[str, Any]]:
    """All that was measured, but for how fast."""
    return [{k: v for k, v in row.items() if k != "time/fps"} for row in read_rows(folder / "metrics.jsonl")]


def test_a_folder_holds_everything_about_its_run(whole: Path) -> None:
    names = {"config.json", "metrics.csv", "metrics.jsonl", "model", "program.txt", "program.json", "result.json"}
    assert names <= {file.name for file in whole.iterdir()}
    config = json.loads((whole / "config.json").read_text())
    assert (config["task"], config["method"], config["seed"]) == ("ThresholdProbe", "diprl", 7)
    assert RunSpec.from_json(config).settings == SETTINGS
    result = json.loads((whole / "result.json").read_text())
    assert len(result["score"]["returns"]) == result["score"]["episodes"] == 5
    assert not list(whole.glob("checkpoint*"))
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
            run(session(folder, resume=folder.exists(), observers=(stop_at(steps),)))
        assert not (folder / "result.json").exists()
    run(session(folder, resume=True))
    for name in ("program.json", "program.txt", "model"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name
    assert figures(folder) == figures(whole)


def test_a_finished_run_is_read_and_nothing_is_written(whole: Path) -> None:
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in whole.iterdir()}
    seen: list[Snapshot] = []
    again = run(session(whole, resume=True, observers=(seen.append,)))
    assert seen == []
    assert again.trained is None
    assert again.to_json() == json.loads((whole / "result.json").read_text())
    assert before == {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in whole.iterdir()}


def test_a_folder_with_a_run_is_not_overwritten(whole: Path) -> None:
    with pytest.raises(DiprlError, match="already holds a run: choose another --out"):
        run(session(whole))


def test_a_second_process_is_refused(whole: Path) -> None:
    with try_lock(whole / ".lock") as held:
        assert held
        with pytest.raises(DiprlError, match="another run is writing to"):
            run(session(whole, resume=True))


def test_another_run_s_checkpoint_is_refused(tmp_path: Path) -> None:
    """The arrays fit, so only the spec in the checkpoint tells the runs apart."""
    folders = [tmp_path / str(seed) for seed in (7, 8)]
    for seed, folder in zip((7, 8), folders, strict=True):
        started = session(folder, observers=(stop_at(3 * ROLLOUT),))
        with pytest.raises(Stop):
            run(replace(started, spec=replace(started.spec, seed=seed)))
    (folders[0] / "checkpoint-member-0").replace(folders[1] / "checkpoint-member-0")
    with pytest.raises(DiprlError, match="checkpoint-member-0: the checkpoint belongs to another run"):
        run(replace(session(folders[1], resume=True), spec=replace(session(None).spec, seed=8)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"episodes": 0}, "episodes must be at least 1 and at most 1000000, not 0"),
        ({"episodes": 10**12}, "episodes must be at least 1 and at most"),
        ({"backend": "asink"}, "unknown backend 'asink': did you mean async"),
    ],
)
def test_impossible_runs_are_refused_before_anything_happens(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DiprlError, match=message):
        session(None, **options)


def test_free_folders_are_numbered(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run-2").mkdir()
    assert free_folder(tmp_path, "run") == tmp_path / "run-3"


def test_seeds_in_threads_equal_seeds_one_by_one(tmp_path: Path) -> None:
    base = session(None)
    sessions = [replace(base, spec=replace(base.spec, seed=seed), folder=tmp_path / str(seed)) for seed in (1, 2, 3)]
    together = run_all(sessions, 3)
    assert [result.spec.seed for result in together] == [1, 2, 3]
    alone = run(replace(sessions[1], folder=None))
    assert together[1].program == alone.program
    assert together[1].score == alone.score


@pytest.mark.parametrize(("members", "reports"), [(1, 50), (2, 25), (5, 10), (8, 10)])
def test_members_share_the_reports_of_a_run(members: int, reports: int) -> None:
    seen: list[int] = []
    settings = SETTINGS.with_values(total_timesteps=110 * members * ROLLOUT, members=members)
    ended = small_session(probe("ThresholdProbe"), settings, observers=(lambda snapshot: seen.append(snapshot.steps),))
    run(ended)
    rollouts = settings.ppo.num_rollouts * 0.94 // members if members > 1 else settings.ppo.num_rollouts
    each = len(range(0, int(rollouts), max(1, round(rollouts / reports))))
    assert abs(len(seen) - members * each) <= members
    assert abs(len(seen) / members - reports) <= 0.15 * reports + 1


def test_a_log_cut_short_by_a_crash_goes_on(tmp_path: Path) -> None:
    rows = [{"time/total_timesteps": float(step), "x": step / 3} for step in (1, 2, 3)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "metrics.jsonl").write_text(text[:-7])
    assert MetricsLog(tmp_path, from_step=2).rows == rows[:2]
    assert MetricsLog(tmp_path, from_step=1).rows == rows[:1]
    assert (tmp_path / "metrics.csv").read_text().splitlines() == ["time/total_timesteps,x", "1.0,0.3333333333333333"]


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


FADING: Settings = small_settings(total_timesteps=640, num_envs=4, num_steps=8, minibatch_size=32, max_depth=2)


@pytest.mark.parametrize("good_rollouts", [0, 2])
def test_a_number_that_is_none_stops_the_run_and_keeps_its_checkpoint(tmp_path: Path, good_rollouts: int) -> None:
    # A snapshot after each rollout plays some episodes of its own, all of them three steps long.
    Fading.left = good_rollouts * (32 + 200) + 10
    fading = small_session(fading_task(), FADING, folder=tmp_path / "run", backend="sync")
    with pytest.raises(NotFiniteError, match=r"observation.*not finite|not finite.*observation"):
        run(fading)
    assert (tmp_path / "run" / "checkpoint-member-0").exists() == (good_rollouts > 0)
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


def test_the_largest_settings_are_refused_before_they_fill_the_memory() -> None:
    largest = small_settings(
        num_envs=4096, num_steps=1024, minibatch_size=1 << 22, hidden_size=2048, max_depth=64, total_timesteps=1 << 22
    )
    with pytest.raises(DiprlError, match=r"needs about \d+ GB of memory, and there are \d+: lower num_envs"):
        run(small_session(probe("ThresholdProbe"), largest))

"""Grids survive kill -9 at any moment, never repeat a run, and share work between processes."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from diprl.errors import DiprlError
from diprl.experiment.executors import find_executor, local
from diprl.experiment.grid import Grid, Record, Store, claim, work_through
from diprl.runs.result import Result
from diprl.runs.spec import RunSpec
from tests.experiment.fixtures import make_record, make_run, repeatable, step_by_step
from tests.experiment.kill_me import SEEDS, small_grid

MOMENTS = ("1:0", "1:19", "1:before record", "1:torn record", "1:after record", "2:7", "3:torn record")


def quiet(_: str) -> None:
    """Announce nothing."""


def run_until(moment: str, folder: Path) -> int:
    command = [sys.executable, "-m", "tests.experiment.kill_me", str(folder)]
    return subprocess.run(command, env=os.environ | {"DIE_AT": moment}, check=False).returncode


def test_killed_at_every_kind_of_moment_it_ends_with_the_same_records(tmp_path: Path) -> None:
    killed, whole = small_grid(tmp_path / "killed"), small_grid(tmp_path / "whole")
    assert [run_until(moment, killed.folder) for moment in MOMENTS] == [-9] * len(MOMENTS)
    work_through(killed, step_by_step, quiet)
    work_through(whole, step_by_step, quiet)
    assert [repeatable(record) for record in killed.store.lines()] == [repeatable(r) for r in whole.store.lines()]
    assert not any(killed.work_folder(run).exists() for run in killed.runs)


def test_a_finished_run_is_never_repeated(tmp_path: Path) -> None:
    grid = small_grid(tmp_path)
    work_through(grid, step_by_step, quiet)
    before = grid.store.path.read_bytes()
    work_through(grid, step_by_step, quiet)
    assert grid.store.path.read_bytes() == before
    assert [(tmp_path / "work" / f"finished{seed}").read_text() for seed in SEEDS] == ["."] * len(SEEDS)


def test_several_workers_share_a_grid_and_one_that_dies_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIE_AT", "2:7")  # the count goes on beyond 7 when another worker takes over
    grid = Grid(tmp_path, tuple(make_run(seed=seed) for seed in range(1, 9)))
    assert local(grid, quiet, workers=2, execute=step_by_step) == {}
    assert sorted(record["seed"] for record in grid.store.lines()) == list(range(1, 9))
    assert (tmp_path / "work" / "begun2").read_text() == ".."
    assert [(tmp_path / "work" / f"finished{seed}").read_text() for seed in range(1, 9)] == ["."] * 8


def test_a_claim_excludes_others_and_ends_with_its_holder(tmp_path: Path) -> None:
    with claim(tmp_path, "a") as first, claim(tmp_path, "a") as second, claim(tmp_path, "b") as other:
        assert (first, second, other) == (True, False, True)
    with claim(tmp_path, "a") as again:
        assert again


def test_a_run_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    def execute(run: RunSpec, folder: Path) -> Record:
        if run.seed == 2:
            raise DiprlError("the reward became infinite")
        return make_record(run, 0.0)

    grid = small_grid(tmp_path)
    failures = work_through(grid, execute, quiet)
    assert list(failures.values()) == ["diprl, CartPole-v1, default, seed 2: the reward became infinite"]
    assert [run.seed for run in grid.pending()] == [2]


def test_a_key_depends_on_what_decides_the_result_and_on_nothing_else() -> None:
    run = make_run()
    assert replace(run, variant="auto", preset="paper").key == run.key
    others = [
        replace(run, seed=1),
        replace(run, task="Acrobot-v1"),
        replace(run, method="ppo"),
        replace(run, episodes=3),
        replace(run, settings=run.settings.with_values(alpha=0.5)),
        replace(run, env_kwargs={"gravity": 1.0}),
    ]
    assert len({run.key, *(other.key for other in others)}) == 7


def test_a_setting_without_effect_does_not_change_the_key() -> None:
    run, sparse = make_run(), {"feature_entropy": 0.003}
    smaller = {"smallest_share": 0.02}
    dense, other = (
        replace(run, settings=run.settings.with_values(feature_entropy=0.0, **more)) for more in ({}, smaller)
    )
    assert dense.key == other.key
    first, second = (replace(run, settings=run.settings.with_values(**sparse, **more)) for more in ({}, smaller))
    assert first.key != second.key


def test_committed_records_keep_their_keys() -> None:
    records = Store(Path(__file__).parents[2] / "results").read().values()
    assert records
    for record in records:
        assert Result.from_json(record).spec.key == record["key"]


def test_an_unknown_executor_answers_with_the_nearest() -> None:
    with pytest.raises(DiprlError, match="local"):
        find_executor("locl")

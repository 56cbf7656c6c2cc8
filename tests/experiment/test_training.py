"""Real training through the grid: killed and continued, many runs in one call, scored again on the reference."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from diprl.errors import DiprlError
from diprl.experiment import vmap as batches
from diprl.experiment.executors import execute, rescore, vmap
from diprl.experiment.grid import Grid, work_through
from diprl.program import Program
from diprl.program.ast import conditions
from tests.experiment.fixtures import make_run, repeatable
from tests.experiment.train_and_die import training_grid


def quiet(_: str) -> None:
    """Announce nothing."""


@pytest.fixture(autouse=True, scope="module")
def few_episodes() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("diprl.methods.pi_prl.STAGE_EPISODES", 3)
        yield


def test_training_killed_in_both_phases_gives_the_same_record(tmp_path: Path) -> None:
    killed, whole = training_grid(tmp_path / "killed"), training_grid(tmp_path / "whole")
    work_through(whole, execute, quiet)
    for number in (4, 5):
        command = [sys.executable, "-m", "tests.experiment.train_and_die", str(killed.folder), str(number)]
        assert subprocess.run(command, env=dict(os.environ), check=False).returncode == -9
    work_through(killed, execute, quiet)
    (expected,), (found,) = whole.store.lines(), killed.store.lines()
    assert "train_and_die" in found["command"], "the command that began the run"
    found["command"] = expected["command"]
    assert repeatable(found) == repeatable(expected)
    assert len(expected["curve"]["steps"]) == 8
    assert expected["score"]["environment"] == "reference"


def batch_grid(folder: Path) -> Grid:
    runs = [make_run("diprl", "MountainCar-v0", seed, variant) for variant in ("0", "0.5") for seed in (1, 2)]
    return Grid(folder, tuple(runs))


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Grid:
    grid = batch_grid(tmp_path_factory.mktemp("batch"))
    assert vmap(grid, quiet) == {}
    return grid


def test_a_batch_learns_what_single_runs_learn(batch: Grid, tmp_path: Path) -> None:
    alone = Grid(tmp_path, batch.runs[3:])
    work_through(alone, execute, quiet)
    (expected,), found = alone.store.lines(), batch.store.read()[batch.runs[3].key]
    assert found["settings"] == expected["settings"]
    assert found["settings"]["alpha"] == 0.5
    assert found["depth"] == expected["depth"]
    assert found["gap"]["entropy"] == pytest.approx(expected["gap"]["entropy"], rel=1e-3)
    assert found["gap"]["advantage_range"] == pytest.approx(expected["gap"]["advantage_range"], rel=1e-2)
    assert None not in [*found["gap"]["ladder"].values(), *expected["gap"]["ladder"].values()]
    entropies = [record["curve"]["train/architecture_entropy"] for record in (found, expected)]
    assert entropies[0] == pytest.approx(entropies[1], rel=1e-3)
    assert found["score"]["environment"] == "twin"


def test_trees_are_batched_too(tmp_path: Path) -> None:
    runs = tuple(make_run("dtsemnet", "MountainCar-v0", seed) for seed in (1, 2))
    together, alone = Grid(tmp_path / "together", runs), Grid(tmp_path / "alone", runs[1:])
    assert vmap(together, quiet) == {}
    work_through(alone, execute, quiet)
    (expected,), found = alone.store.lines(), together.store.read()[runs[1].key]
    assert found["gap"] is None
    assert found["steps"] == expected["steps"]
    programs = [Program.from_text(record["program"]) for record in (found, expected)]
    numbers = [[*held.weights, held.bias] for program in programs for held in conditions(program.root)]
    half = len(numbers) // 2
    assert np.array(numbers[:half]) == pytest.approx(np.array(numbers[half:]), rel=1e-2)


def test_an_interrupted_batch_gives_the_same_records(batch: Grid, tmp_path: Path) -> None:
    grid, seen = batch_grid(tmp_path), []

    def stop_halfway(line: str) -> None:
        seen.append(line)
        if len(seen) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vmap(grid, stop_halfway)
    assert not grid.store.lines()
    grid.store.append(batch.store.lines()[2])
    assert vmap(grid, seen.append) == {}
    assert len(seen) == 8
    expected = {record["key"]: repeatable(record) for record in batch.store.lines()}
    assert {record["key"]: repeatable(record) for record in grid.store.lines()} == expected


def test_rescoring_adds_the_reference_score_once(batch: Grid) -> None:
    assert rescore(batch, quiet) == 4
    assert rescore(batch, quiet) == 0
    for record in batch.store.read().values():
        assert record["score"]["environment"] == "reference"
        assert record["twin_score"]["environment"] == "twin"
        assert len(record["score"]["returns"]) == 2


def test_runs_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    one, other = make_run(task="MountainCar-v0"), make_run(task="CartPole-v1")
    with pytest.raises(DiprlError, match="one batch"):
        batches.execute_batch([one, other], tmp_path, quiet)


@pytest.mark.parametrize("setting", [{"members": 2}, {"polish_share": 0.2}])
def test_a_run_that_a_batch_would_not_finish_is_left_to_other_executors(setting: dict[str, float]) -> None:
    run = make_run(task="MountainCar-v0")
    assert batches.fits(run)
    assert not batches.fits(replace(run, settings=run.settings.with_values(**setting)))

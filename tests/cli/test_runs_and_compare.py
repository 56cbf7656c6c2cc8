"""`diprl runs` and `diprl compare`: what lies in a folder, and how several programs do on the same episodes."""

import json
from pathlib import Path

import numpy as np
import pytest

from diprl.arena.reference import evaluate_program
from diprl.cli.main import main
from diprl.program import Program
from diprl.system.processes import try_lock
from diprl.tasks.registry import load_task
from tests.cli.scene import write_scene
from tests.report.run_folders import CLUMSY, PROGRAM


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_scene(tmp_path / "scene")
    CLUMSY.save(folder / "clumsy.txt")
    monkeypatch.chdir(folder)
    return folder


def asked(capsys, *arguments: str) -> dict:
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--json"])
    printed = capsys.readouterr()
    assert not ended.value.code, printed.err
    return json.loads(printed.out)


def test_runs_says_how_each_stands(scene: Path, capsys) -> None:
    found = {Path(run["run"]).name: run for run in asked(capsys, "runs")["runs"]}
    states = {name: run["state"] for name, run in found.items()}
    expected = {"a": "finished", "b": "finished", "net": "finished", "half": "unfinished", "broken": "broken"}
    assert states == expected
    assert (found["a"]["task"], found["a"]["method"], found["a"]["seed"]) == ("CartPole-v1", "diprl", 0)
    assert found["a"]["score"] == 480.0
    assert (found["a"]["conditions"], found["a"]["numbers"]) == (PROGRAM.conditions, PROGRAM.coefficients)
    assert found["half"]["note"] == "resume with: diprl train --resume runs/half"
    assert "not valid JSON" in found["broken"]["note"]


def test_a_run_that_another_process_writes_is_running(scene: Path, capsys) -> None:
    with try_lock(scene / "runs" / "half" / ".lock"):
        found = asked(capsys, "runs", "runs/half")["runs"]
    assert [run["state"] for run in found] == ["running"]


def test_compare_pairs_the_episodes(scene: Path, capsys) -> None:
    found = asked(capsys, "compare", "p.txt", "clumsy.txt", "runs/a", "--episodes", "5")
    first, clumsy, same = found["programs"]
    task = load_task("CartPole-v1")
    returns = [np.array(evaluate_program(task, program, 5).returns) for program in (PROGRAM, CLUMSY)]
    assert first["score"]["mean"] == returns[0].mean()
    assert first["gain"] is None
    assert clumsy["gain"]["mean"] == pytest.approx((returns[1] - returns[0]).mean())
    assert clumsy["gain"]["ci95"][1] < 0
    assert (same["gain"]["mean"], same["alike"]) == (0.0, 1.0)
    assert clumsy["alike"] < 1.0


def test_compare_counts_close_actions_as_alike(scene: Path, capsys) -> None:
    text = (
        "task: Pendulum-v1\nfeatures: cos_theta, sin_theta, theta_velocity\noutputs: torque in [-2, 2]\n\ntorque = {}\n"
    )
    for name, torque in (("one", "0.5"), ("near", "0.51"), ("far", "0.6")):
        Program.from_text(text.format(torque)).save(scene / f"{name}.txt")
    found = asked(capsys, "compare", "one.txt", "near.txt", "far.txt", "--episodes", "2")["programs"]
    assert [row["alike"] for row in found] == [None, 1.0, 0.0]


def test_programs_of_different_tasks_are_not_compared(scene: Path, capsys) -> None:
    text = "task: MountainCar-v0\nfeatures: position, velocity\nactions: left, coast, right\n\nright\n"
    Program.from_text(text).save(scene / "car.txt")
    with pytest.raises(SystemExit) as ended:
        main(["compare", "p.txt", "car.txt"])
    assert ended.value.code == 2
    assert "car.txt is for MountainCar-v0 and p.txt for CartPole-v1" in capsys.readouterr().err

"""Stable-Baselines3 in our tables: a Python of its own, our episodes, a record that says what made it."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from diprl.errors import DiprlError
from diprl.experiment.executors import execute
from diprl.experiment.request import Request
from diprl.experiment.suites import SUITES
from diprl.runs.result import Result

(RUN,) = SUITES["untuned"].runs(Request(tasks="FrozenLake-v1", methods="sb3-ppo", seeds="3"))


def python_that(folder: Path, body: str) -> str:
    """An interpreter that does this instead of what it is asked to do."""
    path = folder / "python"
    path.write_text(f"#!{sys.executable}\nimport json, sys\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IEXEC)
    return str(path)


@pytest.mark.skipif(os.name == "nt", reason="a script with a first line that names its interpreter")
def test_another_python_trains_and_the_record_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"returns": [0.0, 1.0], "steps": 301_056, "versions": {"stable-baselines3": "2.9"}}
    body = f"open({str(tmp_path / 'asked')!r}, 'w').write(json.dumps(sys.argv[1:])); print({json.dumps(told)!r})"
    monkeypatch.setenv("DIPRL_SB3_PYTHON", python_that(tmp_path, body))
    result = Result.from_json(execute(RUN, tmp_path / "run"))
    asked = json.loads((tmp_path / "asked").read_text(encoding="utf-8"))
    assert asked[0] == "-I"
    assert asked[2:] == ["FrozenLake-v1", "100", "300000", "3", "1000000", "100"]
    assert (result.score.mean, result.total_steps, result.program) == (0.5, 301_056, None)
    assert dict(result.versions) == told["versions"]


def test_random_actions_are_those_that_are_allowed(tmp_path: Path) -> None:
    (run,) = SUITES["untuned"].runs(Request(tasks="Taxi-v4", methods="random", seeds="3"))
    result = Result.from_json(execute(run, tmp_path / "run"))
    assert -200 <= result.score.mean < -150, "hardly anybody is brought home; what would cost ten is never done"
    assert (result.total_steps, result.program, len(result.score.returns)) == (0, None, 100)
    assert result.to_json() | {"wall_seconds": 0.0} == execute(run, tmp_path / "again") | {"wall_seconds": 0.0}


@pytest.mark.skipif(os.name == "nt", reason="a script with a first line that names its interpreter")
def test_a_python_without_it_ends_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIPRL_SB3_PYTHON", python_that(tmp_path, "sys.exit('No module named stable_baselines3')"))
    with pytest.raises(DiprlError, match=r"No module named stable_baselines3 \(DIPRL_SB3_PYTHON names"):
        execute(RUN, tmp_path / "run")

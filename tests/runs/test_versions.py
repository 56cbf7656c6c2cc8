"""A run that goes on with other packages than it began with says so."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from diprl.methods.registry import run
from diprl.runs.result import changed_versions, versions
from diprl.tasks.registry import load_task
from diprl.train.settings import Settings
from tests.small import small_session


def test_changes_are_named_and_nothing_else() -> None:
    assert changed_versions(versions()) == ""
    assert changed_versions(None) == changed_versions("odd") == ""
    before = versions() | {"numpy": "1.0", "something": "else"}
    assert changed_versions(before) == f"numpy was 1.0 and is {versions()['numpy']}"


def test_a_resumed_run_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = {"num_envs": 4, "num_steps": 16, "minibatch_size": 64, "total_timesteps": 128, "polish_share": 0.0}
    settings = Settings().with_values(**values)
    session = small_session(load_task("CartPole-v1"), settings, folder=tmp_path / "run")
    run(session)
    (tmp_path / "run" / "result.json").unlink()
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    config["versions"]["jax"] = "0.1"
    (tmp_path / "run" / "config.json").write_text(json.dumps(config))
    capsys.readouterr()
    run(replace(session, resume=True))
    assert "warning: jax was 0.1 and is" in capsys.readouterr().err


def test_a_command_on_record_names_no_folder_of_this_machine(monkeypatch) -> None:
    from diprl.runs.result import command

    monkeypatch.setattr(
        "sys.argv", ["/opt/bin/diprl", "train", "CartPole-v1", "--out", "/home/somebody/run", "--seed", "3"]
    )
    assert command() == "diprl train CartPole-v1 --out run --seed 3"

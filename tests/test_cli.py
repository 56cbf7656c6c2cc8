"""The command line: the JSON contract, exit codes, one sentence for every mistake, and runs that survive their end."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diprl.cli.main import main
from diprl.program import Program

SETTINGS = [
    "--num-envs", "8", "--num-steps", "16", "--minibatch-size", "64", "--num-epochs", "2", "--hidden-size", "8",
    "--max-depth", "3", "--total-timesteps", "2000", "--raw", "--seed", "4", "--episodes", "6",
]  # fmt: skip
TRAIN = ["train", "CartPole-v1", *SETTINGS]


def call(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    return int(stopped.value.code or 0)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A run folder with what its process printed to standard output and error."""
    folder = tmp_path_factory.mktemp("cli") / "run"
    done = diprl(*TRAIN, "--out", str(folder), "--json")
    assert done.returncode == 0, done.stderr
    return folder, done.stdout, done.stderr


def diprl(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "diprl", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def test_train_ends_with_one_json_object(trained: tuple[Path, str, str]) -> None:
    folder, out, _ = trained
    record = json.loads(out)
    assert (record["task"], record["method"], record["preset"]) == ("CartPole-v1", "diprl", "default")
    (run,) = record["runs"]
    assert (run["seed"], run["folder"], run["steps"]) == (4, str(folder), 2048)
    assert set(run["score"]) >= {"mean", "std", "ci95", "episodes"}
    assert run["score"]["episodes"] == 6
    assert run["score"]["ci95"][0] <= run["score"]["mean"] <= run["score"]["ci95"][1]
    parts = [run["gap"][part] for part in ("architecture", "condition", "terminal")]
    assert run["gap"]["total"] == pytest.approx(sum(parts))
    assert 0 <= run["gap"]["entropy"] < 1e-3
    assert run["steps_by_purpose"] == {"training": 2048}
    assert {"wall_seconds", "depth", "conditions", "settings", "versions"} <= set(run)


def test_train_prints_the_program_that_it_scored(trained: tuple[Path, str, str]) -> None:
    folder, out, err = trained
    run = json.loads(out)["runs"][0]
    saved, printed = Program.load(folder / "program.json"), Program.from_text(run["program"])
    assert printed == saved == Program.load(folder / "program.txt")
    assert run["program"].partition("\n\n")[2].strip() in err
    observations = np.random.default_rng(0).normal(scale=2.0, size=(100_000, 4))
    np.testing.assert_array_equal(printed.act_batch(observations), saved.act_batch(observations))
    assert (run["depth"], run["conditions"]) == (saved.depth, saved.conditions)


def test_what_is_for_people_goes_to_standard_error(trained: tuple[Path, str, str]) -> None:
    _, _, err = trained
    for shown in ("seed 4: 100%", "steps/s", "score", "relaxed", "trained", "files"):
        assert shown in err


def test_eval_gives_the_same_score_again(trained: tuple[Path, str, str], capsys: pytest.CaptureFixture[str]) -> None:
    folder, out, _ = trained
    expected = json.loads(out)["runs"][0]["score"]
    for source in (folder, folder / "program.txt"):
        assert call("eval", str(source), "--episodes", "6", "--json") == 0
        found = json.loads(capsys.readouterr().out)["score"]
        assert found == {name: expected[name] for name in ("mean", "std", "ci95", "episodes")}


def test_show_prints_what_runs(trained: tuple[Path, str, str], capsys: pytest.CaptureFixture[str]) -> None:
    folder, *_ = trained
    assert call("show", str(folder)) == 0
    assert Program.from_text(capsys.readouterr().out) == Program.load(folder / "program.json")
    assert call("show", str(folder), "--json") == 0
    assert Program.from_json(capsys.readouterr().out) == Program.load(folder / "program.json")


def test_tasks_lists_what_can_be_trained(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("tasks", "--json") == 0
    rows = {row["task"]: row for row in json.loads(capsys.readouterr().out)["tasks"]}
    assert rows["CartPole-v1"]["features"] == ["cart_position", "cart_velocity", "pole_angle", "pole_angular_velocity"]
    assert rows["CartPole-v1"]["backend"] == "compiled twin"
    assert call("tasks") == 0
    assert "MountainCar-v0" in capsys.readouterr().out


def test_resuming_a_finished_run_says_so_and_writes_nothing(trained: tuple[Path, str, str]) -> None:
    folder, out, _ = trained
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}
    done = diprl("train", "--resume", str(folder), "--json")
    assert done.returncode == 0, done.stderr
    assert f"{folder} is already finished" in done.stderr
    again, first = (json.loads(text)["runs"][0] for text in (done.stdout, out))
    assert again == first
    assert before == {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}


def test_a_run_is_resumed_as_it_was_begun(trained: tuple[Path, str, str]) -> None:
    done = diprl("train", "--resume", str(trained[0]), "--episodes", "7")
    assert done.returncode == 2
    assert "--resume goes on with the run as it was begun: leave out episodes" in done.stderr


def test_an_interrupted_and_a_killed_run_go_on_to_the_same_end(trained: tuple[Path, str, str], tmp_path: Path) -> None:
    """Ctrl-C, then kill -9, each in a process of its own: the run ends bit for bit like one that nobody disturbed."""
    folder, reference = tmp_path / "run", trained[0]
    code, err = disturbed([*TRAIN, "--out", str(folder)], folder, signal.SIGINT)
    assert code == 130
    assert err.splitlines()[-1] == f"diprl: stopped; go on with: diprl train --resume {folder}"
    assert not (folder / "result.json").exists()
    code, _ = disturbed(["train", "--resume", str(folder)], folder, signal.SIGKILL)
    assert code == -signal.SIGKILL
    done = diprl("train", "--resume", str(folder))
    assert done.returncode == 0, done.stderr
    for name in ("program.json", "model"):
        assert (folder / name).read_bytes() == (reference / name).read_bytes()


def disturbed(arguments: list[str], folder: Path, what: signal.Signals) -> tuple[int, str]:
    """Run in a process of its own and send it a signal as soon as it has written another row of metrics."""
    before, log = rows(folder), folder.with_name("errors.txt")
    with open(log, "w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "diprl", *arguments], stdout=subprocess.DEVNULL, stderr=errors
        )
        while process.poll() is None and rows(folder) <= before:
            time.sleep(0.002)
        process.send_signal(what)
        return process.wait(timeout=600), log.read_text()


def rows(folder: Path) -> int:
    file = folder / "metrics.jsonl"
    return len(file.read_text().splitlines()) if file.exists() else 0


def test_an_output_folder_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    assert call(*TRAIN, "--out", str(tmp_path / "file" / "run")) == 2
    err = capsys.readouterr().err
    assert "the output folder" in err
    assert "cannot be written: Not a directory" in err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_run_is_neither_overwritten_nor_changed_half_way(
    trained: tuple[Path, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, *_ = trained
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert call(*TRAIN, "--out", str(folder)) == 2
    assert "already holds a run" in capsys.readouterr().err
    assert call("train", "--resume", str(folder), "--gamma", "0.5") == 2
    assert "leave out gamma" in capsys.readouterr().err
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


HOSTILE: dict[str, Any] = {
    "not JSON": "{",
    "not an object": "[]",
    "empty": "{}",
    "settings": '{"task": "CartPole-v1", "env_kwargs": {}, "settings": {"gamma": "high"}, "method": "diprl"}',
    "unknown settings": '{"task": "CartPole-v1", "env_kwargs": {}, "settings": {"magic": 1}, "method": "diprl"}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_broken_config_is_one_sentence(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text(HOSTILE[name])
    assert call("train", "--resume", str(tmp_path)) == 2
    err = capsys.readouterr().err
    assert err.startswith("diprl: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"], ["eval", "--help"], ["--version"], []])
def test_help_is_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*arguments) == 0
    assert "diprl" in capsys.readouterr().out


def test_every_setting_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    from dataclasses import fields

    from diprl.cli.options import field_docstrings
    from diprl.train.settings import PPOSettings, ProgramSettings

    for record in (PPOSettings, ProgramSettings):
        texts = field_docstrings(record)
        assert set(texts) == {item.name for item in fields(record)}
        assert all(len(text) > 10 for text in texts.values())
    assert call("train", "--help") == 0
    assert "--learning-rate" in capsys.readouterr().out


def test_a_reader_that_leaves_early_is_no_error(trained: tuple[Path, str, str]) -> None:
    command = f"{sys.executable} -m diprl train --help | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0
    assert done.stderr == ""

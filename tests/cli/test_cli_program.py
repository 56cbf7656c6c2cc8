"""`diprl export`, `explain` and `watch` from the outside."""

import json
from pathlib import Path

import pytest

from diprl.cli import main
from tests.export.examples import BLEND
from tests.report.run_folders import CLUMSY, PROGRAM, write_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def run(*arguments: object) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def test_export_writes_and_reports(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("export", folder, "--to", "python,json,c", "--out", tmp_path / "out") == 0
    assert "play: agrees on 3200 observations" in capsys.readouterr().out
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"cartpole_v1.py", "cartpole_v1.json", "cartpole_v1.c", "cartpole_v1.h"}
    assert run("export", folder, "--to", "c", "--out", tmp_path / "out", "--main") == 0
    assert (tmp_path / "out" / "cartpole_v1_main.c").exists()


def test_export_refuses(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("export", folder, "--to", "phyton") == 2
    assert "did you mean python" in capsys.readouterr().err
    assert run("export", folder, "--to", "python", "--main") == 2
    assert "add --to c" in capsys.readouterr().err


def test_export_of_unknown_primitives_goes_without_networks(tmp_path: Path) -> None:
    BLEND.save(tmp_path / "ant.json")
    assert run("export", tmp_path / "ant.json", "--to", "python", "--out", tmp_path) == 0
    assert (tmp_path / "ant_program.py").exists()


def test_explain_says_why(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", folder, "--state", "pole_angle = 0.02, cart_velocity=-0.1") == 0
    text = capsys.readouterr().out
    assert "the program does: right" in text
    assert "holds: the value is +0.04765" in text
    assert "pole_angle +0.06" in text
    assert "gives left" in text


def test_explain_as_json_gives_a_counterfactual(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", folder, "--from-reset", 3, "--state", "pole_angle=-0.1", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["state"]["pole_angle"] == -0.1
    assert found["state"]["cart_position"] != 0.0
    assert found["action"] == "left"
    assert PROGRAM.act(found["nearest"]["features"]) == 1


@pytest.mark.parametrize(
    ("state", "words"), [("pole_agnle=1", "did you mean pole_angle"), ("pole_angle=up", "must look like")]
)
def test_explain_refuses(folder: Path, state: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", folder, "--state", state) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("command", ["watch", "enjoy"])
def test_watch_without_a_screen(
    folder: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert run(command, folder) == 2
    assert "--record FILE.gif" in capsys.readouterr().err


def test_watch_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    image = pytest.importorskip("PIL.Image")
    always_left = PROGRAM.edit(replace="left")
    always_left.save(tmp_path / "left.txt")
    film = tmp_path / "films" / "left.gif"
    assert run("watch", tmp_path / "left.txt", "--record", film, "--episodes", 2) == 0
    assert "seed 1: return" in capsys.readouterr().out
    with image.open(film) as opened:
        assert opened.size[0] == 480
        assert opened.n_frames > 8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--record", "film.avi"), ".gif or an .mp4"),
        (("--record", "a.gif", "--episodes", 0), "--episodes must be at least 1"),
        (("--record", "a.gif", "--task", "MountainCar-v0"), "does not fit MountainCar-v0"),
    ],
)
def test_watch_refuses(
    folder: Path, options: tuple[object, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("watch", folder, *options) == 2
    assert words in capsys.readouterr().err


def test_report_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_run(tmp_path / "run", program=CLUMSY)
    assert run("report", folder, "--out", tmp_path / "page.html", "--episodes", 1) == 0
    assert "wrote" in capsys.readouterr().out
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert run("report", folder, "--features", "nothing") == 2

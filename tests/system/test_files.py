"""Files are written whole, where they belong, and never over what is not ours."""

import os
from pathlib import Path

import pytest

from diprl.cli import main
from diprl.errors import DiprlError
from diprl.experiment.grid import Store
from diprl.program import Program
from diprl.system.files import check_target, read_text, write_text
from diprl.verify import verify

PROGRAM = Program.from_text("task: CartPole-v1\nfeatures: a, b, c, d\nactions: l, r\nif a > 0: l\nelse: r")
fifos = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")


def outcome(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    return int(stopped.value.code or 0)


def test_a_program_is_saved_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "program.json"
    PROGRAM.save(path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left") as caught:
        PROGRAM.rounded(1).save(path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["program.json"]


def test_a_link_is_replaced_and_a_device_is_refused(tmp_path: Path) -> None:
    victim, link = tmp_path / "victim", tmp_path / "link"
    victim.write_text("mine")
    link.symlink_to(victim)
    PROGRAM.save(link)
    assert victim.read_text() == "mine"
    assert not link.is_symlink()
    (tmp_path / "null").symlink_to("/dev/null")
    for place in (tmp_path, tmp_path / "null", Path("/dev/null")):
        with pytest.raises(DiprlError, match="not a regular file"):
            PROGRAM.save(place)
    assert Path("/dev/null").is_char_device()


@fifos
def test_a_pipe_hangs_nobody(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    PROGRAM.save(tmp_path / "program.txt")
    for use in (Program.load, read_text, lambda path: verify(PROGRAM, path), PROGRAM.save, check_target):
        with pytest.raises(DiprlError, match="not a regular file"):
            use(pipe)
    (tmp_path / "records.jsonl").symlink_to(pipe)
    with pytest.raises(DiprlError, match="not a regular file"):
        Store(tmp_path).lines()
    assert outcome("edit", str(tmp_path / "program.txt"), "--with-text", str(pipe)) == 2


def test_records_are_not_written_through_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text('{"key": "theirs"}\n')
    (tmp_path / "records.jsonl").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic"):
        Store(tmp_path).append({"key": "ours"})
    assert victim.read_text() == '{"key": "theirs"}\n'


@pytest.mark.parametrize("command", ["polish", "simplify", "edit"])
def test_where_a_result_goes_is_looked_at_before_the_work(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, foreign = tmp_path / "program.txt", tmp_path / "notes.txt"
    PROGRAM.save(program)
    write_text(foreign, "my notes")
    assert outcome(command, str(program), "--out", str(foreign)) == 2
    assert "was not written by diprl" in capsys.readouterr().err
    assert outcome(command, str(program), "--out", str(program / "below")) == 2
    assert foreign.read_text() == "my notes"


@pytest.mark.parametrize("name", ["metrics.csv", "program.txt", "model", "checkpoint-0", "result.json"])
def test_a_new_run_overwrites_nothing(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor does a run of several seeds begin if the last of their folders is not free."""
    folder = tmp_path / "seed1"
    folder.mkdir()
    (folder / name).write_text("theirs")
    assert outcome("train", "CartPole-v1", "--total-timesteps", "64", "--seeds", "0,1", "--out", str(tmp_path)) == 2
    assert f"holds {name}, which the run would overwrite" in capsys.readouterr().err
    assert (folder / name).read_text() == "theirs"
    assert not (tmp_path / "seed0" / "config.json").exists()


def test_half_a_character_is_written_as_its_escape(tmp_path: Path) -> None:
    write_text(tmp_path / "page.html", "caf\u00e9 \ud800")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == "caf\u00e9 \\ud800"

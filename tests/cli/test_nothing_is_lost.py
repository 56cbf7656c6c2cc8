"""Nothing is lost: a mistake in an edit, Ctrl-C in a search, an unfinished run, files that are there already."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from diprl.cli.main import main
from diprl.program import Program
from tests.search.programs import BALANCING, FALLING, WORDY
from tests.small import SMALL

EDITOR = f"""#!{sys.executable}
import sys
from pathlib import Path
path, calls = Path(sys.argv[1]), Path(__file__).with_name("calls")
calls.write_text(calls.read_text() + "." if calls.exists() else ".")
wrong = len(calls.read_text()) < int(Path(__file__).with_name("good_at").read_text())
path.write_text("if pole_angle > 0 and cart_velocity > 0:\\n    right\\nelse:\\n    left\\n" if wrong
                else "if pole_angle > 0:\\n    right\\nelse:\\n    left\\n")
"""


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that writes a mistake until it is called for the time that `good_at` holds."""
    path = tmp_path / "editor" / "editor.py"
    path.parent.mkdir()
    path.write_text(EDITOR)
    path.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(path))
    BALANCING.save(tmp_path / "p.txt")
    return path


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def test_the_editor_opens_again_after_a_mistake(editor: Path, tmp_path: Path, capsys) -> None:
    editor.with_name("good_at").write_text("2")
    assert run("edit", tmp_path / "p.txt", "--episodes", 2) == 0
    assert "an 'if' inside the branch)\nEnter opens" in capsys.readouterr().err
    assert editor.with_name("calls").read_text() == ".."
    assert "pole_angle > 0" in str(Program.load(tmp_path / "edited.json"))


def test_a_text_that_stays_wrong_is_kept(editor: Path, tmp_path: Path, capsys) -> None:
    editor.with_name("good_at").write_text("99")
    assert run("edit", tmp_path / "p.txt") == 2
    kept = re.search(r"--with-text (\S+)", capsys.readouterr().err)
    assert kept
    assert "and cart_velocity" in Path(kept[1]).read_text()
    shutil.rmtree(Path(kept[1]).parent)


def interrupted(arguments: list[str], folder: Path, when: str) -> tuple[int, str]:
    """Run in a process of its own and press Ctrl-C once its standard error has said something."""
    log = folder / "errors.txt"
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with open(log, "w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "diprl", *arguments], stdout=errors, stderr=errors, cwd=folder, env=environment
        )
        while process.poll() is None and when not in log.read_text():
            time.sleep(0.02)
        time.sleep(0.0 if when else 12.0)
        process.send_signal(signal.SIGINT)
        return process.wait(timeout=600), log.read_text()


def test_simplify_keeps_what_it_has_accepted(tmp_path: Path) -> None:
    WORDY.save(tmp_path / "p.txt")
    code, said = interrupted(["simplify", "p.txt", "--episodes", "5"], tmp_path, "gives way")
    assert code == 0, said
    assert "comparing what was found" in said
    assert Program.load(tmp_path / "simplified.json") != WORDY


def test_polish_keeps_what_it_has_found(tmp_path: Path) -> None:
    FALLING.save(tmp_path / "p.txt")
    began = time.monotonic()
    code, said = interrupted(["polish", "p.txt", "--episodes", "5", "--seconds", "3000"], tmp_path, "")
    assert code == 0, said
    assert "comparing what was found; Ctrl-C again stops at once" in said
    assert time.monotonic() - began < 600
    assert ("accepted: gain" in said) == (Program.load(tmp_path / "polished.json") != FALLING)


def test_an_unfinished_run_has_its_program_on_disk(tmp_path: Path) -> None:
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items() if name != "polish_share"]
    arguments = ["train", "CartPole-v1", *options, "--total-timesteps", "2e6", "--raw", "--out", "run"]
    code, said = interrupted(arguments, tmp_path, "seed 0:  10%")
    assert code == 130, said
    text = (tmp_path / "run" / "program.txt").read_text()
    assert re.search(r"# unfinished: after [\d,]+ of 2,0\d\d,\d\d\d steps", text)
    assert Program.load(tmp_path / "run" / "program.txt").task == "CartPole-v1"
    assert not (tmp_path / "run" / "program.json").exists()


def test_a_second_export_or_change_replaces_nothing(tmp_path: Path, capsys) -> None:
    BALANCING.save(tmp_path / "p.txt")
    FALLING.save(tmp_path / "q.txt")
    out = ["--to", "python", "--out", tmp_path / "out"]
    assert run("export", tmp_path / "p.txt", *out) == 0
    assert run("export", tmp_path / "p.txt", *out) == 0, "the same once more is no change"
    (first,) = (tmp_path / "out").iterdir()
    before = first.read_bytes()
    capsys.readouterr()
    assert run("export", tmp_path / "q.txt", *out) == 2
    assert f"{first} is there already: write elsewhere, or replace it with --force" in capsys.readouterr().err
    assert first.read_bytes() == before
    assert run("export", tmp_path / "q.txt", *out, "--force") == 0
    assert first.read_bytes() != before
    for command in ("polish", "simplify", "edit"):
        assert run(command, tmp_path / "p.txt", "--out", first) == 2
        assert f"{first} is there already" in capsys.readouterr().err


def test_a_finished_run_is_never_rewritten(tmp_path: Path, capsys) -> None:
    sizes = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items() if name != "polish_share"]
    arguments = ["train", "CartPole-v1", *sizes, "--total-timesteps", "512", "--raw", "--episodes", 2]
    assert run(*arguments, "--out", tmp_path / "run") == 0
    before = {path: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    assert "unfinished" not in (tmp_path / "run" / "program.txt").read_text()
    assert run(*arguments, "--out", tmp_path / "run") == 2
    assert run("train", "--resume", tmp_path / "run", "--json") == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["over_seeds"]["seeds"] == 1
    assert {path: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before

"""A plant of one's own, from an empty folder to C code in six commands, each in a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TANK = (Path(__file__).parent.parent / "examples" / "tank.py").read_text()
FILLED_IN = {
    'x0 = { unit = ""': 'level = { unit = "m"',
    'x1 = { unit = ""': 'inflow = { unit = "m/s"',
    'meaning = ""': 'meaning = "as measured"',
    '"action0", "action1"': '"pump_off", "pump_on"',
    "horizon = 1000": "horizon = 100",
    "1_000_000": "4_096",
}
"""What a user writes into the task file."""
SMALL = ["--num-envs", "16", "--num-steps", "64", "--max-depth", "2", "--raw", "--episodes", "5", "--out", "run"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plant")


def diprl(folder: Path, *arguments: str) -> str:
    """What a command prints; it has to succeed without a warning."""
    command = [sys.executable, "-W", "error", "-m", "diprl", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_from_an_empty_folder_to_c_in_six_commands(folder: Path) -> None:
    (folder / "tank.py").write_text(TANK)
    assert "wrote tank.toml" in diprl(folder, "task", "init", "tank.py:Tank")
    text = (folder / "tank.toml").read_text()
    for empty, filled in FILLED_IN.items():
        assert empty in text
        text = text.replace(empty, filled)
    (folder / "tank.toml").write_text(text)
    assert re.search(r"pump_o(n|ff)\n", diprl(folder, "train", "tank.toml", *SMALL))
    assert "level [m] in [0.0, 2.0]" in diprl(folder, "show", "run")
    assert re.search(r"level = [\d.]+ m, inflow = [\d.]+ m/s\n", diprl(folder, "explain", "run", "--from-reset", "1"))
    assert "report.html" in diprl(folder, "report", "run", "--episodes", "2")
    assert "double: agrees" in diprl(folder, "export", "run", "--to", "c")
    header = (folder / "export" / "tank_program.h").read_text()
    assert "/* features[0]: level [m] in [0.0, 2.0]: as measured */" in header
    assert "/* features[1]: inflow [m/s] in [0.0, 0.2]: as measured */" in header
    assert "TANK_PROGRAM_ACTION_PUMP_ON = 1" in header
    page = (folder / "run" / "report.html").read_text()
    assert "trained on tank.py" not in page
    assert "data:image/webp" in page, "the report shows the tank"
    assert "<td>0 to 0.2</td><td>as measured</td>" in page


def test_its_run_is_known_in_another_folder(folder: Path, tmp_path: Path) -> None:
    run = str(folder / "run")
    assert "Tank: " in diprl(tmp_path, "eval", run, "--episodes", "2")
    assert "is already finished" in diprl(tmp_path, "train", "--resume", run)
    assert "written" in diprl(tmp_path, "polish", run, "--steps", "500", "--episodes", "2", "--out", "better.json")
    assert "seed 0: return" in diprl(tmp_path, "watch", run, "--record", "film.gif")
    from diprl import DiPRL

    model = DiPRL.load(run)
    assert model.task.signature.feature_names == ("level", "inflow")
    assert model.task.horizon == 100
    assert int(model.predict([1.9, 0.1])[0]) in (0, 1)

"""The runs in `examples/runs` are what their commands make, at full budget."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from diprl import Program
from tests.docs.blocks import ROOT

RUNS = sorted(path.parent for path in (ROOT / "examples" / "runs").rglob("result.json"))


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.parent.name + "/" + run.name)
def test_it_names_its_command_and_nothing_of_a_machine(run: Path) -> None:
    result = json.loads((run / "result.json").read_text())
    assert result["command"].startswith("diprl train ")
    for path in run.iterdir():
        assert b"/tmp/" not in path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.parent.name + "/" + run.name)
def test_its_command_makes_it_again(run: Path, tmp_path: Path) -> None:
    before = json.loads((run / "result.json").read_text())
    for name in ("tank.py", "tank.toml"):
        (tmp_path / name).write_text((ROOT / "examples" / name).read_text())
    words = shlex.split(before["command"])[1:]
    words = words[: words.index("--out")] if "--out" in words else words
    command = [sys.executable, "-m", "diprl", *words, "--out", "again"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=600)
    after = json.loads((tmp_path / "again" / "result.json").read_text())
    assert after["score"] == before["score"]
    if (run / "program.json").exists():
        assert Program.load(tmp_path / "again" / "program.json") == Program.load(run / "program.json")

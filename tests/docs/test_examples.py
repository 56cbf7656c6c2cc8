"""The examples: short enough to copy, shown in the docs from their files, and all of them run."""

import json
import os
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest

from tests.docs.blocks import LONG, ROOT, SHORT

EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(path for path in EXAMPLES.glob("*.py") if path.name != "tank.py")
NEEDS = {"sb3_evaluate.py": "stable_baselines3", "ray_seeds.py": "ray"}
OWN_PROCESS = {"ray_seeds.py"}
PRINTS = {
    "call_c.py": "C and Python agree on 1,000 states\n",
    "front.py": "  7 numbers   -10",
    "prove.py": "proved - a pole that falls to the right is pushed right\nrefuted - a pole that leans",
    "edit_and_continue.py": "acts otherwise in ",
    "own_environment.py": "features: level in [0.0, 2.0], inflow in [0.0, 0.2]\nactions: pump_off, pump_on\n",
    "features.py": "tilt_soon [deg]",
    "callbacks.py": "program scores ",
    "several_seeds.py": "standard error",
    "sb3_evaluate.py": "500.0 ± 0.0",
    "ray_seeds.py": "seed 1 scores ",
}


def test_there_are_ten_that_people_would_copy() -> None:
    assert {path.name for path in SCRIPTS} == PRINTS.keys()
    assert len(SCRIPTS) == 10
    assert [path.name for path in SCRIPTS if len(path.read_text().splitlines()) > 60] == []


@pytest.mark.parametrize("script", [*SCRIPTS, EXAMPLES / "tank.py"], ids=lambda path: path.name)
def test_the_docs_show_it_from_the_file(script: Path) -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    assert f'--8<-- "examples/{script.name}"' in pages


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_it_runs(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a small budget, in this process, so that compiled code is shared; only Ray gets one of its own."""
    if not find_spec(NEEDS.get(script.name, "diprl")) or (script.name == "call_c.py" and not which("gcc")):
        pytest.skip(f"{script.name} needs what is not installed")
    copy = tmp_path / script.name
    copy.write_text(LONG.sub(SHORT, script.read_text()))
    for name in ("tank.py", "cartpole.txt", "runs"):
        (tmp_path / name).symlink_to(EXAMPLES / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    if script.name in OWN_PROCESS:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(
            [sys.executable, script.name], capture_output=True, text=True, timeout=300, check=True, env=environment
        )
        assert PRINTS[script.name] in done.stdout
        return
    runpy.run_path(str(copy), run_name="__main__")
    assert PRINTS[script.name] in capsys.readouterr().out


def test_the_notebook_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 6
    assert all(cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"), "outputs are kept"
    (tmp_path / "cartpole.txt").symlink_to(EXAMPLES / "cartpole.txt")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for number, cell in enumerate(cells):
        exec(compile(LONG.sub(SHORT, cell), f"cell {number}", "exec"), names)
    assert "model" in names

"""With `--json`, standard output is one JSON document, whatever an environment prints."""

import json
import os
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from diprl.cli.main import ALIASES, COMMANDS, find_command
from diprl.cli.options import options_of
from tests.cli.scene import write_scene

ROOT = Path(__file__).parents[2]
COMMANDS_WITH_JSON = [
    "show p.txt",
    "eval p.txt --episodes 2",
    "explain p.txt",
    "runs",
    "compare p.txt runs/a --episodes 2",
    "export p.txt --to json,python --out out",
    "watch p.txt --record film.gif",
    "tasks",
    "completion fish",
    "primitives list",
    "edit p.txt --with-text edited.txt --episodes 2",
    "verify p.txt never.yaml",
]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_scene(tmp_path_factory.mktemp("scene"))
    (folder / "edited.txt").write_text("if pole_angle > 0:\n    right\nelse:\n    left\n")
    (folder / "never.yaml").write_text("properties:\n  - {kind: never, action: left}\n")
    return folder


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    arguments = [sys.executable, "-m", "diprl", *shlex.split(command)]
    environment = os.environ | {"PYTHONPATH": paths}
    return subprocess.run(
        arguments, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_option(name: str) -> None:
    command = find_command(name)
    assert "--json" in options_of(command)
    assert ALIASES.get(name, name).capitalize() == command.__name__
    assert command.__doc__
    assert fields(command)


@pytest.mark.parametrize("command", COMMANDS_WITH_JSON)
def test_standard_output_is_one_document(command: str, scene: Path) -> None:
    done = run(f"{command} --json", scene)
    assert done.returncode in (0, 1), done.stderr
    assert isinstance(json.loads(done.stdout), dict)


def test_a_noisy_environment_does_not_spoil_it(scene: Path) -> None:
    sizes = "--num-envs 4 --num-steps 16 --minibatch-size 64 --total-timesteps 64 --hidden-size 8 --episodes 2"
    done = run(f"train tests.cli.noisy:Noisy-v0 {sizes} --backend sync --out noisy --json", scene)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["folder"] == "noisy"
    assert "reset {" in done.stderr
    assert "step {" in done.stderr


def test_a_mistake_leaves_standard_output_empty(scene: Path) -> None:
    done = run("eval nothing-here --json", scene)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "diprl: there is no program at nothing-here\n"

"""Nothing that diprl does reaches for a network: each command runs where there is none, and every attempt is seen."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMPILER = shutil.which("gcc") or shutil.which("cc")
ROOT = Path(__file__).parents[2]
SMALL = "--num-envs 4 --num-steps 16 --minibatch-size 64 --total-timesteps 256 --members 1 --raw --episodes 1"
COMMANDS = {
    "train": f"-m diprl train CartPole-v1 {SMALL} --out run",
    "resume": "-m diprl train --resume run",
    "show": "-m diprl show run",
    "eval": "-m diprl eval run --episodes 1",
    "explain": "-m diprl explain run --state pole_angle=0.1",
    "verify": "-m diprl verify run spec.yaml",
    "export": "-m diprl export run --to python,c,json,latex,svg,st,onnx",
    "report": "-m diprl report run --episodes 1",
    "simplify": "-m diprl simplify run --episodes 1 --tolerance 0.9",
    "tasks": "-m diprl tasks",
    "the tests of ONNX": f"-m pytest -q -p no:cacheprovider -c {ROOT}/pyproject.toml {ROOT}/tests/export/test_onnx.py",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the guard, in which the commands leave their files for those that follow."""
    if sys.platform != "linux" or COMPILER is None:
        pytest.skip("needs Linux and a C compiler: attempts to reach the network are not looked for")
    folder = tmp_path_factory.mktemp("offline")
    source = Path(__file__).with_name("no_network.c")
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", folder / "guard.so", source], check=True)
    (folder / "spec.yaml").write_text("properties:\n  - kind: actions\n")
    return folder


def without_network() -> list[str]:
    """What puts a command into a network of its own with nothing in it, where that is permitted."""
    unshare = shutil.which("unshare")
    if unshare and subprocess.run([unshare, "-rn", "true"], capture_output=True, check=False).returncode == 0:
        return [unshare, "-rn"]
    return []


def attempts(place: Path, arguments: str) -> tuple[int, str, str]:
    """Exit code, what was said, and every attempt to reach a network."""
    log = place / "network.log"
    log.write_text("")
    guard = {"LD_PRELOAD": str(place / "guard.so"), "NETWORK_LOG": str(log), "PYTHONPATH": os.pathsep.join(sys.path)}
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"} | guard
    command = [*without_network(), sys.executable, *arguments.split()]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False, timeout=300)
    return done.returncode, done.stdout + done.stderr, log.read_text()


def test_the_guard_sees_what_tries(place: Path) -> None:
    (place / "tries.py").write_text("import socket\nsocket.create_connection(('192.0.2.1', 9), 0.1)\n")
    code, said, seen = attempts(place, "tries.py")
    assert code == 1
    assert "OSError" in said or "gaierror" in said
    assert seen


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_reaches_for_a_network(name: str, place: Path) -> None:
    pytest.importorskip("z3")
    pytest.importorskip("onnxruntime")
    code, said, seen = attempts(place, COMMANDS[name])
    assert code in ((0, 1) if name == "verify" else (0,)), said
    assert seen == ""

"""Things that go wrong around a run: environments, disks, clocks, devices, second processes."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from diprl.arena.reference import evaluate
from diprl.cli.train import Train
from diprl.errors import DiprlError, NotFiniteError
from diprl.methods.registry import config_of, run
from diprl.runs.folder import exclusive
from diprl.system.device import use_device
from diprl.system.storage import load_tree, save_tree
from diprl.tasks.base import Task
from diprl.tasks.batches.guard import Remote, guarded
from diprl.tasks.batches.workers import WorkerEnvironments
from diprl.tasks.registry import load_task
from diprl.train.settings import Settings
from tests.counters import Faulty
from tests.small import small_session

SOURCE = Path(__file__).parents[2] / "src" / "diprl"


def faulty(fault: str) -> Task:
    return load_task(partial(Faulty, fault))


def act(views: np.ndarray) -> np.ndarray:
    return np.zeros(len(views), int)


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("raises", DiprlError, "Faulty failed in a step: ZeroDivisionError"),
        ("nan observation", NotFiniteError, "Faulty returned an observation that is not finite"),
        ("infinite reward", NotFiniteError, "Faulty returned the reward inf"),
        ("wrong shape", DiprlError, r"Faulty returned an observation of shape \(1,\) instead of \(2,\)"),
        ("wrong type", DiprlError, "features cannot be computed"),
        ("no reward", DiprlError, "Faulty failed in a step: TypeError"),
    ],
)
def test_what_an_environment_does_wrong_while_scored_is_named(fault: str, kind: type[DiprlError], words: str) -> None:
    with pytest.raises(kind, match=words):
        evaluate(faulty(fault), act, episodes=2)


def test_an_environment_that_hangs_is_given_up_wherever_it_is_stepped() -> None:
    task = guarded(faulty("hangs"), 0.2)
    with pytest.raises(DiprlError, match=r"Faulty: a step took more than 0\.2 seconds"):
        evaluate(task, act, episodes=2)
    environments = WorkerEnvironments(task, 2, workers=1, timeout=0.2)
    environments.reset(0)
    environments.step(np.zeros(2, int))
    environments.step(np.zeros(2, int))
    with pytest.raises(DiprlError, match=r"Faulty took more than 0\.8 seconds in step 3"):
        environments.step(np.zeros(2, int))


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("inf"), float("nan")])
def test_impossible_deadlines_are_refused(seconds: float) -> None:
    with pytest.raises(DiprlError, match="env_timeout must be a positive number"):
        guarded(faulty("raises"), seconds)


def test_the_option_reaches_the_environments_and_the_config(tmp_path: Path) -> None:
    (session,) = Train(task="CartPole-v1", env_timeout=2.0, out=tmp_path / "run").fresh_sessions()
    assert isinstance(session.task.reference, Remote)
    assert session.task.reference.seconds == session.env_timeout == 2.0
    assert config_of(session)["session"] == {"backend": "auto", "env_timeout": 2.0}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with room for a megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if done.returncode != 0:
        pytest.skip("mounting a small disk is not permitted")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Leave not a byte of room."""
    ballast = folder / "ballast"
    with open(ballast, "wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    return ballast


def test_a_full_disk_costs_no_checkpoint(small_disk: Path) -> None:
    path, numbers = small_disk / "checkpoint", {"x": np.arange(1000.0, dtype=np.float32)}
    save_tree(path, numbers, {"steps": 1})
    ballast = fill(small_disk)
    with pytest.raises(OSError, match="No space left"):
        save_tree(path, {"x": numbers["x"] + 1}, {"steps": 2})
    loaded, facts = load_tree(path, numbers)
    assert facts == {"steps": 1}
    np.testing.assert_array_equal(loaded["x"], numbers["x"])
    ballast.unlink()
    save_tree(path, numbers, {"steps": 2})
    assert load_tree(path, numbers)[1] == {"steps": 2}


def test_a_full_disk_is_one_sentence_with_a_way_on(small_disk: Path) -> None:
    ballast = fill(small_disk)
    session = small_session(faulty("raises"), Settings(), folder=small_disk / "run")
    with pytest.raises(DiprlError, match=r"No space left on device; .* go on with: diprl train --resume"):
        run(session)
    ballast.unlink()


def test_a_read_only_disk_is_one_sentence(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    session = small_session(faulty("raises"), Settings(), folder=small_disk / "run")
    with pytest.raises(DiprlError, match="run cannot be written: Read-only file system"):
        run(session)


HOLD = "import sys; from pathlib import Path; from diprl.runs.folder import exclusive\n"
HOLD += "with exclusive(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"


def test_a_folder_belongs_to_one_process_until_that_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdin is not None
    with holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(DiprlError, match="another run is writing to"), exclusive(tmp_path):
            pass
        holder.kill()
    with exclusive(tmp_path):
        assert holder.returncode == -9


def has_gpu() -> bool:
    import jax

    return any(device.platform == "gpu" for device in jax.devices())


def test_a_gpu_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    if has_gpu():
        pytest.skip("there is a GPU")
    use_device("gpu")
    assert "warning: no GPU that JAX can use was found" in capsys.readouterr().err
    with pytest.raises(DiprlError, match=r"no GPU that JAX can use was found .*: leave out --device gpu-only"):
        use_device("gpu-only")
    with pytest.raises(DiprlError, match="unknown device 'gpux': did you mean gpu"):
        use_device("gpux")


def test_a_processor_that_the_environment_insists_on_must_be_there() -> None:
    if has_gpu():
        pytest.skip("there is a GPU")
    script = "from diprl.cli.main import main; import diprl.cli.main as cli\n"
    script += "from diprl.system.device import use_device\n"
    script += "cli.run = lambda *_: use_device('auto')\nmain(['train'])"
    environment = os.environ | {"JAX_PLATFORMS": "cuda"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("diprl: JAX finds no processor to run on")
    assert "Traceback" not in done.stderr


def called(path: Path) -> set[str]:
    """Dotted names that a file uses, such as time.time."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_clock_that_can_go_backwards_and_nothing_that_listens(path: Path) -> None:
    """Durations come from the monotonic clock; no file but the studio's opens a port, and that one on this machine."""
    assert not called(path) & {"time.time", "datetime.now", "datetime.datetime.now", "time.time_ns"}
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
    }
    servers = {"socket", "socketserver", "http", "asyncio", "xmlrpc", "flask", "aiohttp", "uvicorn"}
    if path.relative_to(SOURCE).as_posix() == "report/studio/server.py":
        servers -= {"http"}
        assert '"127.0.0.1"' in path.read_text(encoding="utf-8")
    assert not imported & servers
    assert "0.0.0.0" not in path.read_text(encoding="utf-8")

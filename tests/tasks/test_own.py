"""Environments of the user's own: how they are named, what is said where that fails, and whose code may run."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.runs.folder import task_of
from diprl.runs.spec import RunSpec
from diprl.tasks.batches.workers import WorkerEnvironments
from diprl.tasks.origin import Origin
from diprl.tasks.registry import load_task

TANK = (Path(__file__).parents[2] / "examples" / "tank.py").read_text()
MORE = """
class Helper:
    pass

number = 3

def limited(pump=0.2):
    return gym.wrappers.TimeLimit(Tank(pump), 30)

def batch():
    return gym.vector.SyncVectorEnv([Tank])

def camera():
    env = Tank()
    env.observation_space = gym.spaces.Box(0, 255, (8, 8, 3), np.uint8)
    return env
"""


@pytest.fixture(autouse=True)
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with tank.py, which is the current one; what is imported from it is forgotten afterwards."""
    (tmp_path / "tank.py").write_text(TANK + MORE)
    (tmp_path / "broken.py").write_text("import no_such_package\n")
    (tmp_path / "sour.py").write_text("def f(:\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("tank", "registering"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_a_class_and_a_factory_in_a_file(plant: Path) -> None:
    task = load_task("tank.py:Tank", env_kwargs={"pump": 0.1})
    assert (task.name, task.horizon, task.origin) == ("Tank", 1000, Origin("tank.py:Tank", str(plant)))
    assert task.note == "Tank has no time limit: episodes are cut after 1,000 steps, unless a task file sets a horizon"
    environment = task.reference()
    environment.reset(seed=0)
    assert environment.unwrapped.pump == 0.1  # type: ignore[attr-defined]
    limited = load_task(str(plant / "tank.py:limited"))
    assert (limited.name, limited.horizon, limited.note) == ("Tank", 30, "")


def test_a_module_in_the_current_folder(plant: Path) -> None:
    assert load_task("tank:Tank").name == "Tank"
    text = "import gymnasium\ngymnasium.register('Wet-v0', 'tank:Tank', max_episode_steps=9)\n"
    (plant / "registering.py").write_text(text)
    task = load_task("registering:Wet-v0")
    assert (task.name, task.horizon) == ("Wet-v0", 9)
    del gym.registry["Wet-v0"]


def test_two_files_of_one_name_and_a_file_that_changes(plant: Path) -> None:
    (plant / "other").mkdir()
    (plant / "other" / "tank.py").write_text(TANK.replace("Discrete(2)", "Discrete(3)"))
    assert [len(load_task(name).signature.actions.names) for name in ("tank.py:Tank", "other/tank.py:Tank")] == [2, 3]
    (plant / "tank.py").write_text(TANK.replace("Discrete(2)", "Discrete(4)"))
    assert len(load_task("tank.py:Tank").signature.actions.names) == 4


def test_workers_make_what_a_source_names(plant: Path) -> None:
    (plant / "plant.toml").write_text(
        'environment = "tank.py:Tank"\n[features]\nlevel = {}\ninflow = {}\nsum = { formula = "level + inflow" }\n'
    )
    task = load_task("plant.toml")
    environments = WorkerEnvironments(task, 2, workers=1)
    views = environments.reset(0)
    environments.close()
    np.testing.assert_allclose(views[:, 2], views[:, 0] + views[:, 1], rtol=1e-6)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("tank.py:Tonk", "unknown environment in tank.py 'Tonk': did you mean Tank"),
        ("tank.py:Helper", "tank.py:Helper is no gymnasium.Env and no function that makes one: tank.py has Tank"),
        ("tank.py:number", "is no gymnasium.Env"),
        ("tank.py:batch", "is a batch of environments: give a single one"),
        ("tank.py:camera", "the observation is an image of shape .*: wrap it so that it gives a few numbers"),
        ("tank.py", "name the class too, as tank.py:Class"),
        ("tonk.py:Tank", "there is no file .*tonk.py"),
        ("tonk:Tank", "the module 'tonk' cannot be imported: it is neither in .* nor installed"),
        ("broken.py:Tank", "broken.py needs the package 'no_such_package', which is not installed"),
        ("sour.py:Tank", r"sour.py failed while it was loaded: SyntaxError: .*line 1"),
        ("tonk.toml", "there is no task file tonk.toml: write one with diprl task init"),
        ("Zzz", "unknown task 'Zzz': diprl tasks lists those that are built in; name one of your own as FILE.py:Class"),
    ],
)
def test_what_cannot_be_found_is_said(source: str, words: str) -> None:
    with pytest.raises(DiprlError, match=words):
        load_task(source)


def test_keyword_arguments_that_do_not_fit() -> None:
    with pytest.raises(DiprlError, match=r"unknown keyword argument of tank.py:Tank 'pmp': did you mean pump"):
        load_task("tank.py:Tank", env_kwargs={"pmp": 1})


def test_a_vector_environment_is_refused() -> None:
    with pytest.raises(DiprlError, match="VectorEnv is a batch of environments"):
        load_task(gym.make_vec("CartPole-v1", num_envs=2))  # type: ignore[arg-type]


def saved(folder: Path, origin: Origin, program: str = "") -> tuple[Path, Program]:
    """A run folder as it might come from anybody."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(RunSpec("Tank", origin=origin).to_json()))
    text = "task: Tank\nfeatures: level, inflow\nactions: off, on\nif level > 1: on\nelse: off"
    return folder, Program.from_text(program or text)


def test_a_run_finds_its_environment_again_from_anywhere(plant: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = load_task("tank.py:Tank").origin
    assert origin is not None
    run, program = saved(plant / "run", origin)
    monkeypatch.chdir("/")
    assert task_of(run, program).name == "Tank"
    assert task_of(run / "simplified.json", program).name == "Tank"


def test_a_strangers_run_runs_nothing_until_its_code_is_named(plant: Path) -> None:
    (plant / "evil").mkdir()
    (plant / "evil" / "tank.py").write_text(f"open({str(plant / 'ran')!r}, 'w').close()\n" + TANK)
    run, program = saved(plant / "run", Origin("tank.py:Tank", str(plant / "evil")))
    with pytest.raises(DiprlError, match=r"trained on tank.py:Tank, and .*evil/tank.py would run: .* name it yourself"):
        task_of(run, program)
    assert not (plant / "ran").exists()
    assert task_of(run, program, str(plant / "evil" / "tank.py:Tank")).name == "Tank"
    assert (plant / "ran").exists()
    assert task_of(run, program).name == "Tank"
    with (plant / "evil" / "tank.py").open("a") as file:
        file.write("# changed")
    with pytest.raises(DiprlError, match="has changed since you last named it"):
        task_of(run, program)


@pytest.mark.parametrize("source", ["os:system", "tank.py:limited", "tank:Tank", "../evil.py:Env"])
def test_only_what_was_named_is_allowed(source: str, plant: Path) -> None:
    load_task("tank.py:Tank")
    run, program = saved(plant / "run", Origin(source, str(plant)))
    with pytest.raises(DiprlError, match=r"would run|which is not here"):
        task_of(run, program)


@pytest.mark.parametrize("task", ["evil.toml", "evil.py", "evil.py:Env"])
def test_a_program_cannot_name_a_file(task: str, plant: Path) -> None:
    (plant / "evil.toml").write_text('environment = "evil.py:Env"')
    (plant / "evil.py").write_text("raise SystemExit('code from a file ran')")
    _, program = saved(plant / "run", Origin("CartPole-v1"))
    with pytest.raises(DiprlError, match=r"unknown task|whose module would run"):
        task_of(plant / "program.txt", replace(program, task=task))


def test_a_module_that_has_gone_is_named(plant: Path) -> None:
    run, program = saved(plant / "run", Origin("tank.py:Tank", str(plant / "gone")))
    words = r"trained on tank.py:Tank, which is not here \(looked for in .*gone\): bring it back, or say where"
    with pytest.raises(DiprlError, match=words):
        task_of(run, program)


def test_what_a_task_file_said_holds_in_another_place(plant: Path) -> None:
    described = {"environment": "tank.py:Tank", "actions": ["off", "on"], "horizon": 7}
    run, program = saved(plant / "run", Origin("tank.py:Tank", str(plant / "gone"), described))
    task = task_of(run, program, "tank.py:Tank")
    assert (task.signature.actions.names, task.horizon) == (("off", "on"), 7)


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        (3, "its origin must be an object"),
        ({"source": "a"}, "its origin lacks the keys"),
        ({"source": "a", "folder": 3, "described": {}}, "'folder' of its origin"),
        ({"source": "a", "folder": "", "described": {"horizn": 3}}, "unknown key in the task file 'horizn'"),
    ],
)
def test_a_damaged_origin_is_refused(origin: Any, words: str) -> None:
    with pytest.raises(DiprlError, match=words):
        RunSpec.from_json(RunSpec("Tank").to_json() | {"origin": origin})


def test_the_key_of_a_run_says_what_it_was_trained_on() -> None:
    plain, own = RunSpec("Tank"), RunSpec("Tank", origin=Origin("tank.py:Tank", "/here"))
    assert "origin" not in plain.to_json()
    assert RunSpec.from_json(json.loads(json.dumps(own.to_json()))) == own
    assert plain.key != own.key == RunSpec("Tank", origin=Origin("tank.py:Tank", "/there")).key
    assert own.key != RunSpec("Tank", origin=Origin("tank.py:Tank", "/here", {"horizon": 3})).key


def test_a_home_that_cannot_be_written_is_no_obstacle(plant: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (plant / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(plant / "file"))
    assert load_task("tank.py:Tank").name == "Tank"


def test_the_console_script_finds_modules_of_the_current_folder(plant: Path) -> None:
    """Unlike `python -m diprl`, it does not begin with the current folder among those that are searched."""
    script = "import sys; sys.path[:] = [p for p in sys.path if p not in ('', '.')]\nfrom diprl.cli import main\nmain()"
    command = [sys.executable, "-W", "error", "-c", script, "task", "init", "tank:Tank", "--out", "new.toml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ, timeout=120)
    assert done.returncode == 0, done.stderr
    assert 'environment = "tank:Tank"' in (plant / "new.toml").read_text()

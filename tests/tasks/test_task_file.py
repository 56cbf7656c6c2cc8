"""Task files: what they say reaches the task, every mistake is one sentence, and `task init` writes one that works."""

import tomllib
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from diprl.cli.main import main
from diprl.errors import DiprlError
from diprl.program.signature import Continuous, Feature
from diprl.tasks.base import Task
from diprl.tasks.registry import load_task

EXAMPLES = Path(__file__).parents[2] / "examples"
CART = """
environment = "CartPole-v1"
actions = ["west", "east"]
must_use = ["angle"]
may_not_use = ["x"]
total_timesteps = 1e5
[features]
x = { unit = "cm", range = [-240, inf] }
v = {}
angle = { meaning = "zero is upright" }
spin = {}
"""

Describe = Callable[[str], Task]


@pytest.fixture
def describe(tmp_path: Path) -> Describe:
    """The task of a task file with this text."""

    def load(text: str) -> Task:
        (tmp_path / "plant.toml").write_text(text)
        return load_task(str(tmp_path / "plant.toml"))

    return load


def test_names_keep_the_compiled_twin(describe: Describe) -> None:
    task, plain = describe(CART), load_task("CartPole-v1")
    assert task.twin is plain.twin
    assert (task.name, task.budget, task.required, task.forbidden) == ("CartPole-v1", 100_000, (2,), (0,))
    x, v, angle, _ = task.signature.features
    assert x == Feature("x", "cm", -240.0, inf)
    assert v == Feature("v", "m/s")
    assert (angle.unit, angle.meaning) == ("rad", "zero is upright")
    assert angle.high == plain.signature.features[2].high
    assert task.signature.actions.names == ("west", "east")


def test_formulas_are_features_that_say_how_they_are_computed(describe: Describe) -> None:
    task = describe(CART + 'speed = { formula = "sqrt(v^2 + spin^2)", unit = "m/s", meaning = "of the tip" }\n')
    assert task.twin is None
    assert task.signature.features[4] == Feature("speed", "m/s", meaning="computed as sqrt(v^2 + spin^2); of the tip")
    environment = task.reference()
    view = task.view(np.asarray(environment.reset(seed=0)[0])[None])
    assert view.dtype == np.float32
    np.testing.assert_allclose(view[0, 4], np.hypot(view[0, 1], view[0, 3]), rtol=1e-6)


def test_a_formula_that_has_no_value_names_the_observation(describe: Describe) -> None:
    task = describe(CART + 'ratio = { formula = "1 / v" }\n')
    with pytest.raises(DiprlError, match=r"ratio = 1 / v is not finite for the observation \[1. 0. 1. 1.\]"):
        task.view(np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0]]))


def test_an_episode_ends_at_the_horizon_of_the_file_or_before(describe: Describe) -> None:
    for horizon, wanted in ((3, 3), (1000, 200)):
        task = describe(f'environment = "Pendulum-v1"\nhorizon = {horizon}\nenv_kwargs = {{ g = 9.0 }}')
        environment = task.reference()
        environment.reset(seed=0)
        steps = 1
        while not environment.step(np.zeros(1))[3]:
            steps += 1
        assert (task.horizon, steps, task.note) == (wanted, wanted, "")
        assert environment.unwrapped.g == 9.0  # type: ignore[attr-defined]


def test_outputs_have_units_and_ranges_within_the_environments(describe: Describe) -> None:
    text = 'environment = "Pendulum-v1"\n[actions]\ntorque = { unit = "N m", range = [%s, 1] }'
    assert describe(text % -1.5).signature.actions == Continuous(("torque",), (-1.5,), (1.0,), ("N m",))
    with pytest.raises(DiprlError, match=r"the range of torque must lie within \[-2, 2\]"):
        describe(text % -3)


def test_pictures_are_made_as_the_file_says(describe: Describe) -> None:
    plain = describe(f'environment = "{EXAMPLES}/tank.py:Tank"')
    told = describe(f'environment = "{EXAMPLES}/tank.py:Tank"\nrender = {{ render_mode = "rgb_array", pump = 0.5 }}')
    pumps = [task.reference(render_mode="rgb_array").unwrapped.pump for task in (plain, told)]  # type: ignore[attr-defined]
    assert pumps == [0.2, 0.5]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("environmnt = 'x'", r"plant.toml: unknown key in the task file 'environmnt': did you mean environment"),
        ("horizon = 3", "it does not say which environment it is about"),
        ("environment 'x'", r"plant.toml: .*line 1, column 13"),
        (CART.replace("unit =", "unti ="), "unknown key in features.x 'unti': did you mean unit"),
        (CART.replace("[-240, inf]", "[3, 2]"), r"range in features.x must be \[low, high\] with low below high"),
        (CART.replace("[-240, inf]", "[nan, 2]"), r"range in features.x must be"),
        (CART.replace('"cm"', "3"), "unit in features.x must be text in quotes, not 3"),
        (CART.replace("v = {}", "v = 3"), "features.v must be a table such as"),
        (CART.replace("v = {}", '"v v" = {}'), "'v v' in features cannot be a name in a program"),
        (CART.replace("v = {}", ""), "features has 3 lines without a formula, but the observation has 4 numbers"),
        (CART.replace('"angle"', '"angel"'), "unknown feature in must_use 'angel': did you mean angle"),
        (CART.replace('"angle"', '"x"'), "must_use and may_not_use both list 'x'"),
        (CART.replace('["west", "east"]', '["west"]'), "actions lists 1, but the environment has 2"),
        (CART.replace('["west", "east"]', '["w", "w"]'), "actions in the task file must be a list of names"),
        (CART.replace("1e5", "1.5"), "total_timesteps in the task file must be a whole number of steps, not 1.5"),
        (CART + 'tip = { formula = "sqrt(v" }', "the formula of tip, column 7"),
        (CART + 'tip = { formula = "late" }\nlate = { formula = "v" }', "the formula of tip, column 1"),
        ('environment = "Pendulum-v1"\nenv_kwargs = { g = 1979-05-27 }', "not JSON serializable"),
        (
            'environment = "CartPole-v1"\n[actions]\nleft = {}\nright = { unit = "N" }',
            "'right' is a choice without unit",
        ),
    ],
)
def test_mistakes_name_the_file_and_the_key(text: str, words: str, describe: Describe) -> None:
    with pytest.raises(DiprlError, match=words):
        describe(text)


def init(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(["task", "init", *arguments])
    return int(stopped.value.code or 0)


@pytest.mark.parametrize("source", ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "DoorKey-5x5"])
def test_what_init_writes_describes_the_same_task(source: str, tmp_path: Path) -> None:
    out = tmp_path / "new.toml"
    assert init(source, "--out", str(out)) == 0
    task, plain = load_task(str(out)), load_task(source)
    assert task.signature.feature_names == plain.signature.feature_names
    assert task.signature.actions == plain.signature.actions
    for told, known in zip(task.signature.features, plain.signature.features, strict=True):
        assert (told.unit, told.meaning) == (known.unit, known.meaning)
        assert (told.low, told.high) == pytest.approx((known.low, known.high))
    assert (task.horizon, task.budget) == (plain.horizon, plain.budget)


def test_init_looks_at_the_environment_and_overwrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plants").mkdir()
    (tmp_path / "plants" / "tank.py").write_text((EXAMPLES / "tank.py").read_text())
    assert init("plants/tank.py:Tank", "--env-kwargs", '{"pump": 0.3}') == 0
    text = (tmp_path / "tank.toml").read_text()
    content: dict[str, Any] = tomllib.loads(text)
    assert (content["environment"], content["horizon"]) == ("plants/tank.py:Tank", 1000)
    assert content["env_kwargs"] == {"pump": 0.3}
    assert content["features"]["x1"]["range"] == [0.0, 0.2]
    assert "x1 = {" in text
    assert "# seen: 0 to 0.2" in text
    assert init("plants/tank.py:Tank") == 2
    assert "tank.toml is there already: choose another name with --out" in capsys.readouterr().err
    assert (tmp_path / "tank.toml").read_text() == text


def test_the_example_is_a_task() -> None:
    task = load_task(str(EXAMPLES / "tank.toml"))
    assert [f"{feature.name} {feature.unit}" for feature in task.signature.features] == ["level m", "inflow m/step"]
    assert gym.spaces.Discrete(2) == task.reference().action_space

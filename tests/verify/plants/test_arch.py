"""The plants in examples/arch: environments to learn on step as the plant files say, and the programs are proved."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diprl.program import Program
from diprl.verify import load_spec, verify
from diprl.verify.checker import problem_of
from diprl.verify.plants.read import load_plant

FOLDER = Path(__file__).parents[3] / "examples" / "arch"
ENVIRONMENTS = {
    "tora": "Tora",
    "single_pendulum": "SinglePendulum",
    "cruise_control": "CruiseControl",
    "unicycle": "Unicycle",
}


def environment_of(name: str) -> Any:
    found = spec_from_file_location("environments", FOLDER / "environments.py")
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return getattr(module, ENVIRONMENTS[name])()


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environments_step_as_the_plant_files_say(name: str) -> None:
    environment, plant = environment_of(name), load_plant(FOLDER / f"{name}.yaml")
    generator = np.random.default_rng(0)
    seen, _ = environment.reset(seed=0)
    assert plant.start is not None
    assert plant.start.contains(environment.state)
    for _ in range(environment.samples):
        np.testing.assert_allclose(seen, plant.observed(np.array(environment.state)[:, None])[:, 0], rtol=1e-12)
        action = generator.uniform(plant.low, plant.high)
        middle = np.array([[(one.low + one.high) / 2.0] for one in plant.unknowns]).reshape(-1, 1)
        after = plant.next_states(np.array(environment.state)[:, None], action[:, None], middle)[:, 0]
        seen, _, _, late, _ = environment.step(action)
        np.testing.assert_allclose(environment.state, after, rtol=1e-5, atol=1e-6)
    assert late


@pytest.mark.parametrize("name", ["single_pendulum", "cruise_control", pytest.param("tora", marks=pytest.mark.slow)])
def test_learnt_programs_are_proved(name: str) -> None:
    program = Program.load(FOLDER / f"{name}.txt")
    answer = verify(program, load_spec(FOLDER / f"{name}.spec.yaml", program)).findings[0].answer
    assert answer.verdict == "proved"
    assert problem_of(answer.certificate) == ""

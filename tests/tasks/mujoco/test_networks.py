"""Programs over bundled primitives find their networks, whichever task of the robot they were learnt on."""

from pathlib import Path

import numpy as np
import pytest

from diprl.export import draw, export
from diprl.program import Blend, Primitives, Program, parse
from diprl.tasks.mujoco.tasks import mujoco_tasks
from diprl.tasks.registry import load_task, networks_of


def first_primitive(name: str) -> Program:
    """The program of a task that runs its first primitive everywhere."""
    signature = load_task(name).signature
    weights = np.eye(len(signature.actions.names))[0]
    return Program(signature, Blend(tuple(weights.tolist())), name)


@pytest.mark.parametrize("name", sorted(mujoco_tasks()))
def test_every_task_gives_its_networks_to_exports(name: str) -> None:
    program = parse(str(first_primitive(name)))
    networks = networks_of(program)
    assert isinstance(program.signature.actions, Primitives)
    assert tuple(network.name for network in networks) == program.signature.actions.names
    assert "def play(observation, senses):" in program.to_python(networks)


def test_exported_networks_agree(tmp_path: Path) -> None:
    program = first_primitive("AntRandomGoal-return")
    networks = networks_of(program)
    samples = draw(program, random=20, near=0, networks=networks)
    report = export(program, "python", tmp_path, networks, samples)
    assert [check.name for check in report.checks] == ["blend", "play"]
    assert report.agrees


def test_other_primitives_have_no_networks() -> None:
    assert networks_of(parse("features: x\nprimitives: up, down\nactuators: 2 in [-1, 1]\nup")) == ()
    assert networks_of(parse("features: x\nactions: up, down\nup")) == ()

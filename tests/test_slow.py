"""Learning at full budget, one test per task: `pytest -m slow tests/test_slow.py`.

The bounds are the paper's scores; on tasks with a twin, seed 123 must also give the committed record's very program.
"""

import json
from pathlib import Path

import pytest

from diprl import DiPRL
from diprl.experiment.suites import CONTINUOUS, DISCRETE
from diprl.experiment.tables import published

RECORDS = Path(__file__).parent.parent / "results" / "records.jsonl"
TWINS = ("CartPole-v1", "Acrobot-v1", "MountainCar-v0", "DoorKey-6x6")


def recorded_program(task: str) -> str:
    for line in RECORDS.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        labels = [record.get(name) for name in ("task", "method", "preset", "variant", "seed")]
        if labels == [task, "diprl", "default", "", 123]:
            return record["program"]
    raise AssertionError(f"there is no record of {task}")


@pytest.mark.slow
@pytest.mark.parametrize("task", TWINS)
def test_seed_123_gives_the_recorded_program_bit_for_bit(task: str) -> None:
    assert str(DiPRL(task, seed=123).learn().program) == recorded_program(task)


@pytest.mark.slow
@pytest.mark.parametrize("task", DISCRETE)
def test_a_program_beats_the_paper_s(task: str) -> None:
    cell = published("discrete_reward", "DiPRL", task=task)
    assert cell is not None
    assert DiPRL(task, seed=2000).learn().score(300).mean >= cell[0]


@pytest.mark.slow
@pytest.mark.parametrize("task", CONTINUOUS)
def test_a_program_reaches_the_goal_at_least_as_often_as_it_must(task: str) -> None:
    assert DiPRL(task, seed=2000).learn().score(100).extra["is_success"] >= 0.9

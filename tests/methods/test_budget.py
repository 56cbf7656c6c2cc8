"""Budgets are kept: no method takes more environment steps than it was given, but for one rollout or one episode."""

import json
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import pytest

from diprl.methods.presets import settings_for
from diprl.methods.registry import METHODS, run
from diprl.runs.session import Session
from diprl.runs.spec import RunSpec
from diprl.runs.trainer import MONITORING
from diprl.tasks.base import Task
from diprl.tasks.registry import load_task

RECORDS = Path(__file__).parents[2] / "results" / "records.jsonl"
SIZES = {"num_envs": 8, "num_steps": 32, "minibatch_size": 64, "hidden_size": 8}
ROLLOUT = 256
EPISODES = 3


class Counted(gym.Wrapper[Any, Any, Any, Any]):
    """CartPole as anybody's environment: Python counts its steps."""

    steps: ClassVar[Counter[str]] = Counter()

    def step(self, action: Any) -> Any:
        self.steps["all"] += 1
        return super().step(action)


def counted() -> gym.Env[Any, Any]:
    return Counted(gym.make("CartPole-v1"))


def session_of(task: Task, method: str, budget: int) -> Session:
    settings = settings_for(method, "default", task, total_timesteps=budget, **SIZES)
    return Session(RunSpec(task.name, method, settings, seed=1, episodes=EPISODES), task, backend="sync")


@pytest.mark.parametrize("budget", [600, 8192, 20_000])
@pytest.mark.parametrize("method", METHODS)
def test_on_a_twin(method: str, budget: int) -> None:
    task = load_task("CartPole-v1")
    result = run(session_of(task, method, budget))
    assert 0 < result.total_steps <= budget + max(ROLLOUT, task.horizon), result.steps


@pytest.mark.parametrize("budget", [600, 8192])
@pytest.mark.parametrize("method", METHODS)
def test_on_an_environment_of_ones_own(method: str, budget: int) -> None:
    task = load_task(counted)
    Counted.steps.clear()
    result = run(session_of(task, method, budget))
    slack = max(ROLLOUT, task.horizon)
    assert 0 < result.total_steps <= budget + slack, result.steps
    scored = 8 * 100 * task.horizon if method in ("diprl", "pi-prl") else EPISODES * task.horizon
    taken = Counted.steps["all"]
    assert taken <= budget + slack + MONITORING * budget + scored, "what is not scoring is in the budget, or monitoring"


def test_of_every_full_run_that_is_on_record() -> None:
    records = [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]
    recent = [record for record in records if "ended" in record]
    for record in recent:
        settings = record["settings"]
        slack = max(settings["num_envs"] * settings["num_steps"], 1000)
        assert record["steps"] <= settings["total_timesteps"] + slack, record["key"]
    assert {record["method"] for record in recent} >= {"diprl"}

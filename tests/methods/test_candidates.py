"""Settings that a run tries: the best go on, all steps count, the choice is told, and a resumed run chooses alike."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.small import SMALL, small_session

from diprl.arena import episodes
from diprl.methods import candidates, ladder
from diprl.methods.presets import candidates as choices_for
from diprl.methods.presets import settings_for
from diprl.methods.registry import run
from diprl.runs.observers import Snapshot
from diprl.runs.result import Result
from diprl.runs.session import Session
from diprl.tasks.registry import load_task

TASK = load_task("Pendulum-v1")
BUDGET = 12_000
CHOICES = choices_for(TASK)


@pytest.fixture(autouse=True)
def _short_scoring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "GAP", episodes.REPORTS._replace(on_reference=1))


def session(folder: Path | None = None) -> Session:
    given = SMALL | {"total_timesteps": BUDGET, "polish_share": 0.0, "candidates": len(CHOICES)}
    given = {
        name: value
        for name, value in given.items()
        if name not in {*(setting for choice in CHOICES for setting in choice), "members"}
    }
    return replace(small_session(TASK, settings_for("diprl", "default", TASK, **given)), folder=folder)


@pytest.mark.parametrize(("gamma", "directions"), [(0.995, 0), (0.9995, 0), (0.995, 8)])
def test_the_best_candidate_goes_on_to_the_end(gamma: float, directions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = candidates.score

    def rigged(trainer: candidates.Trainer, trained: candidates.Trained, count: int) -> float:
        judge(trainer, trained, count)
        return float((trained.settings.ppo.gamma, trained.settings.program.directions) == (gamma, directions))

    monkeypatch.setattr(candidates, "score", rigged)
    result = run(session())
    assert (result.chosen["gamma"], result.chosen["directions"]) == (gamma, directions)
    assert result.trained is not None
    assert result.trained.fraction == 1.0
    assert result.chosen.items() <= result.trained.settings.values().items()
    judged = candidates.RANDOM_EPISODES + sum(candidates.halved(len(CHOICES))[0][:-1])
    assert result.steps[candidates.CHOOSING] == judged * TASK.horizon
    assert 0.85 * BUDGET < result.total_steps <= BUDGET
    assert Result.from_json(result.to_json()).chosen == result.chosen


def test_a_run_that_is_killed_while_it_tries_chooses_alike(tmp_path: Path) -> None:
    folder, killed = tmp_path / "run", tmp_path / "killed"

    def copy(snapshot: Snapshot) -> bool:
        if snapshot.steps > 0.3 * BUDGET and not killed.exists():
            shutil.copytree(folder, killed)  # as a kill at this moment would leave it
        return False

    whole = run(replace(session(folder), observers=(copy,)))
    resumed = run(replace(session(killed), resume=True))
    assert resumed.chosen == whole.chosen
    assert resumed.program == whole.program
    assert dict(resumed.steps) == dict(whole.steps)


def test_all_parts_in_whole_rollouts_are_within_the_budget() -> None:
    parts = candidates.halved(3)
    assert candidates.rollouts_that_fit(42, *parts) == 25  # for 26, 3 of 6, then 2 of 5, then 1 of 15 take 43
    assert candidates.rollouts_that_fit(43, *parts) == 26
    assert candidates.rollouts_that_fit(0, *parts) == 1


@pytest.mark.parametrize(("name", "endless"), [("Pendulum-v1", True), ("InvertedPendulum-v5", False)])
def test_where_falling_ends_an_episode_nobody_learns_to_stand_still(name: str, endless: bool) -> None:
    task = load_task(name)
    trainer = candidates.Trainer(small_session(task, settings_for("diprl", "default", task, candidates=3)))
    assert candidates.endless(trainer) == endless
    assert 0 < trainer.steps[candidates.CHOOSING] <= candidates.RANDOM_EPISODES * task.horizon
    assert len(choices_for(task, endless)) == (3 if endless else 1)


def test_where_there_is_no_choice_nothing_is_tried() -> None:
    task = load_task("InvertedPendulum-v5")
    given = SMALL | {"total_timesteps": BUDGET, "polish_share": 0.0, "candidates": 2}
    result = run(replace(small_session(task, settings_for("diprl", "default", task, **given)), folder=None))
    assert result.chosen == {}
    assert result.steps[candidates.CHOOSING] <= candidates.RANDOM_EPISODES * task.horizon
    assert result.steps["training"] > 0.9 * BUDGET

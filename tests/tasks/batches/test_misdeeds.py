"""Environments that exit, hang, die or answer with anything: one sentence each, wherever they are stepped or scored."""

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.counters import Counter

from diprl.arena.reference import evaluate
from diprl.errors import DiprlError
from diprl.tasks import misdeeds
from diprl.tasks.base import Task
from diprl.tasks.batches.guard import guarded, load_limited
from diprl.tasks.batches.sync import SyncEnvironments
from diprl.tasks.batches.workers import WorkerEnvironments
from diprl.tasks.registry import load_task


class Mute(Exception):
    """An error that cannot describe itself."""

    def __str__(self) -> str:
        raise RuntimeError


def throw(error: BaseException) -> Any:
    raise error


DEEDS: dict[str, Callable[[], Any]] = {
    "exits": lambda: sys.exit(0),
    "leaves": lambda: os._exit(0),
    "generator": lambda: throw(GeneratorExit()),
    "mute": lambda: throw(Mute()),
    "hangs": lambda: time.sleep(600),
    "prints": lambda: print("not JSON", flush=True),
}
WORDS = {
    "exits": "failed.*SystemExit: 0",
    "leaves": "failed.*SystemExit: 0",
    "generator": "failed.*GeneratorExit",
    "mute": "failed.*Mute: an error that cannot be printed",
}


class Misbehaving(Counter):
    """A counter that does its deed at its moment."""

    def __init__(self, deed: str, moment: str, info: Any = None, render_mode: str | None = None) -> None:
        super().__init__(end=5)
        self.deed, self.moment, self.info = deed, moment, info
        self.act("make")

    def act(self, moment: str) -> None:
        if moment == self.moment:
            DEEDS[self.deed]()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.act("step")
        answer = super().step(action)
        return answer if self.info is None else (*answer[:4], self.info)

    def close(self) -> None:
        self.act("close")


def misbehaving(deed: str, moment: str = "step", info: Any = None) -> Task:
    return load_task(partial(Misbehaving, deed, moment, info))


def constant(views: np.ndarray) -> np.ndarray:
    return np.zeros(len(views), int)


@pytest.mark.parametrize("deed", WORDS)
def test_what_ends_a_process_or_passes_through_handlers_is_told(deed: str) -> None:
    task = misbehaving(deed)
    with pytest.raises(DiprlError, match=WORDS[deed]):
        evaluate(task, constant, episodes=2)
    environments = SyncEnvironments(task, 2)
    environments.reset(0)
    with pytest.raises(DiprlError, match=WORDS[deed]):
        environments.step(np.zeros(2, int))
    assert os._exit is misdeeds.leave


@pytest.mark.parametrize("deed", WORDS)
def test_making_one_is_told_too(deed: str) -> None:
    with pytest.raises(DiprlError, match=f"could not be made: {WORDS[deed].removeprefix('failed.*')}"):
        load_limited(partial(misbehaving, deed, "make"))


def test_closing_is_told_and_costs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    task = misbehaving("mute", "close")
    assert evaluate(task, constant, episodes=2).mean == 15.0
    assert "warning: Misbehaving failed to close: Mute" in capsys.readouterr().err


@pytest.mark.parametrize("moment", ["make", "close"])
def test_a_hang_while_it_is_looked_at_is_told(moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diprl.tasks.batches.guard.MAKING", 0.5)
    with pytest.raises(DiprlError, match=r"the environment took more than 1 seconds to be made"):
        load_limited(partial(misbehaving, "hangs", moment), 0.5)


def test_with_a_limit_it_is_scored_in_a_process_that_can_be_ended() -> None:
    assert evaluate(guarded(misbehaving("none", "never"), 30.0), constant, episodes=40).mean == 15.0
    with pytest.raises(DiprlError, match=r"Misbehaving: a step took more than 0\.2 seconds"):
        evaluate(guarded(misbehaving("hangs"), 0.2), constant, episodes=2)
    task = guarded(misbehaving("leaves"), 30.0)
    with pytest.raises(DiprlError, match="failed in a step: SystemExit: 0"):
        evaluate(task, constant, episodes=2)
    with pytest.raises(DiprlError, match="failed in a step: SystemExit: 0"):
        evaluate(task, constant, episodes=2)  # in a new process, the old one is gone


@pytest.mark.parametrize("seconds", [True, "long", float("nan")])
def test_a_limit_is_a_number(seconds: Any) -> None:
    with pytest.raises(DiprlError, match="env_timeout must be a positive number"):
        load_limited(partial(misbehaving, "none"), seconds)


@pytest.mark.parametrize("info", ["x", {"distance": "far", "is_success": None}, {"distance": np.zeros(3)}, []])
def test_reports_that_are_none_are_left_out(info: Any) -> None:
    task = misbehaving("none", "never", info)
    assert evaluate(task, constant, episodes=1).extra == {}
    environments = SyncEnvironments(task, 1)
    environments.reset(0)
    assert np.isnan(environments.step(np.zeros(1, int)).info["distance"]).all()


def test_what_workers_print_goes_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    before = multiprocessing.active_children()
    environments = WorkerEnvironments(misbehaving("prints"), 1)
    environments.reset(0)
    environments.step(np.zeros(1, int))
    environments.close()
    out, err = capfd.readouterr()
    assert out == ""
    assert "not JSON" in err
    assert multiprocessing.active_children() == before

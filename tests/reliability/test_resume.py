"""Runs of several members, with polish, and on environments outside JAX end alike however often they are stopped."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from diprl.methods import retrain
from diprl.methods.registry import run
from diprl.runs.observers import read_rows
from diprl.runs.session import Session
from diprl.runs.trainer import done_steps
from diprl.system.files import write_whole
from diprl.tasks.base import Task
from diprl.tasks.registry import load_task
from tests.counters import Counter
from tests.small import ROLLOUT, probe, registered_probes, small_session, small_settings

MEMBERS = small_settings(total_timesteps=13 * ROLLOUT, members=3, polish_share=0.25, learning_rate=0.02)
THINNING = small_settings(total_timesteps=20 * ROLLOUT, polish_share=0.5, thin_share=0.6, learning_rate=0.02)
HOST = small_settings(total_timesteps=256, num_envs=4, num_steps=8, minibatch_size=32, max_depth=2)


class Killed(BaseException):
    """Stands in for a kill: nothing that handles errors gets to see it."""


@pytest.fixture(autouse=True, scope="module")
def probes_by_name() -> Iterator[None]:
    with registered_probes(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrain, "FEWEST_STEPS", 0)
        patch.setattr(retrain, "FEW_EPISODES", 1)
        yield


@cache
def host_task() -> Task:
    return load_task(Counter)


def members(folder: Path, **options: Any) -> Session:
    return small_session(probe("ThresholdProbe"), MEMBERS, 5, folder=folder, **options)


def thinning(folder: Path, **options: Any) -> Session:
    return small_session(probe("ThresholdProbe"), THINNING, 5, folder=folder, **options)


def host(folder: Path, **options: Any) -> Session:
    return small_session(host_task(), HOST, 5, folder=folder, **{"backend": "sync", **options})


SESSIONS: dict[str, Callable[..., Session]] = {"members": members, "thinning": thinning, "host": host}


@pytest.fixture(scope="module", params=SESSIONS)
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("whole") / "run"
    run(SESSIONS[request.param](folder))
    return request.param, folder


def content(folder: Path) -> dict[str, Any]:
    """Everything that a run must give again."""
    assert not list(folder.glob("checkpoint*"))
    found: dict[str, Any] = {name: (folder / name).read_bytes() for name in ("model", "program.json", "program.txt")}
    result = json.loads((folder / "result.json").read_text())
    found["result"] = {key: value for key, value in result.items() if key != "wall_seconds"}
    found["metrics"] = [
        {key: value for key, value in row.items() if key != "time/fps"} for row in read_rows(folder / "metrics.jsonl")
    ]
    return found


def killing(number: int, stage: str) -> Callable[..., None]:
    """A writer of whole files that dies at its n-th checkpoint: before it, amid its bytes, or between the renames."""
    left = [number]

    def write_or_die(path: Path, data: bytes, keep_as: Path | None = None) -> None:
        left[0] -= keep_as is not None
        if left[0] or keep_as is None:
            return write_whole(path, data, keep_as)
        if stage != "before":
            path.with_name(f".{path.name}.0123456789abcdef.partial").write_bytes(
                data[: len(data) // 2] if stage == "torn" else data
            )
        if stage == "between the renames" and path.exists():
            path.replace(keep_as)
        raise Killed

    return write_or_die


KILLS = {
    "members": ((1, "torn"), (4, "before"), (3, "complete"), (2, "between the renames"), (2, "torn")),
    "thinning": ((1, "torn"), (4, "before"), (3, "complete"), (2, "between the renames"), (2, "torn")),
    "host": ((1, "torn"), (3, "before"), (2, "complete"), (1, "between the renames"), (1, "torn")),
}
"""Which checkpoint of what is left each kill strikes; outside JAX there are four in all."""


def test_killed_at_checkpoints_it_ends_bit_for_bit_alike(
    whole: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, reference = whole
    folder = tmp_path / "run"
    for number, stage in KILLS[kind]:
        monkeypatch.setattr("diprl.system.storage.write_whole", killing(number, stage))
        with pytest.raises(Killed):
            run(SESSIONS[kind](folder, resume=(folder / "config.json").exists()))
    monkeypatch.setattr("diprl.system.storage.write_whole", write_whole)
    run(SESSIONS[kind](folder, resume=True))
    assert content(folder) == content(reference)


def test_a_leftover_piece_of_a_member_s_checkpoint_counts_for_nothing(tmp_path: Path) -> None:
    for name in ("checkpoint-member-0", "checkpoint-member-1", "checkpoint-tuning"):
        (tmp_path / f".{name}.0123456789abcdef.partial").write_bytes(b"torn")
    assert done_steps(tmp_path) == 0


def test_a_run_killed_while_it_polishes_ends_alike(whole: tuple[str, Path], tmp_path: Path) -> None:
    kind, reference = whole
    if kind != "members":
        return
    rounds: list[None] = []

    def die() -> None:
        rounds.append(None)
        if len(rounds) == 3:
            raise Killed

    with pytest.raises(Killed):
        run(members(tmp_path / "run", interrupt=die))
    assert not (tmp_path / "run" / "result.json").exists()
    run(members(tmp_path / "run", resume=True))
    assert content(tmp_path / "run") == content(reference)


def test_worker_processes_do_not_change_a_host_run(whole: tuple[str, Path], tmp_path: Path) -> None:
    if whole[0] == "host":
        run(host(tmp_path / "run", backend="async"))
        assert content(tmp_path / "run") == content(whole[1])

"""Files from strangers: one error that names the file and the reason, within bounds, and nothing in them runs."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diprl.cli.train import Train
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.runs.folder import task_of
from diprl.runs.observers import read_rows
from diprl.runs.spec import RunSpec
from diprl.system.files import read_json
from diprl.system.storage import LARGEST_HEADER, StorageError, load_facts, previous, save_arrays, save_tree
from diprl.tasks.mujoco.primitives import load_primitive
from diprl.tasks.origin import refuse_module
from diprl.train.settings import Settings

PROGRAM = "features: x\nactions: no, yes\nif x > 0: yes\nelse: no"
one_file = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def hostile_primitives() -> dict[str, tuple[bytes, str]]:
    """Files that a stranger might send as primitives, and what is said about each."""
    zeros = bytes(8)
    vector = '["mean", "float32", [2]]'
    head = '{{"schema": 2, "arrays": [{}], "facts": {{}}}}'
    return {
        "empty": (b"", "not a readable primitive"),
        "old format": (b"PK\x03\x04 an archive", "not a readable primitive"),
        "endless array": (signed(head.format('["mean", "float32", [999999999, 999999999]]'), zeros), "list of arrays"),
        "negative size": (signed(head.format('["mean", "float32", [-2, -1]]'), zeros), "list of arrays"),
        "objects": (signed(head.format('["mean", "object", [1]]'), zeros), "list of arrays"),
        "the same twice": (signed(head.format(f"{vector}, {vector}"), 2 * zeros), "list of arrays"),
        "nested head": (signed("[" * 5000), "header"),
        "another version": (signed('{"schema": 3, "arrays": [], "facts": {}}'), "schema 3"),
        "no facts": (signed(head.format(vector), zeros), "not those of a primitive"),
        "damaged": (signed(head.format(vector), zeros)[:-1] + b"\x40", "checksum does not match"),
    }


def signed(head: str, body: bytes = b"") -> bytes:
    """A file whose checksum holds."""
    content = head.encode() + b"\n" + body
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


@pytest.mark.parametrize("name", hostile_primitives())
def test_a_hostile_primitive_is_refused_by_name(name: str, tmp_path: Path) -> None:
    content, reason = hostile_primitives()[name]
    path = tmp_path / "hostile.primitive"
    path.write_bytes(content)
    with pytest.raises(DiprlError, match=rf"hostile\.primitive.*{reason}"):
        load_primitive(path)


@one_file
@given(st.data())
def test_a_consistent_primitive_of_the_wrong_kind_is_refused(tmp_path: Path, data: st.DataObject) -> None:
    """The checksum holds, so only what the facts and the arrays say can give the file away."""
    unit = np.ones(2, np.float32)
    arrays: dict[str, Any] = {"mean": unit, "std": unit, "low": -unit, "high": unit}
    arrays |= {"weights_0": np.ones((2, 2), np.float32), "bias_0": unit}
    odd = data.draw(st.sampled_from([None, 0, 1.5, "x", [], {}, True, 10**30, -1]))
    facts: dict[str, Any] = {"name": "p", "task": "t", "score": 1.0, "command": "c"}
    victim = data.draw(st.sampled_from(["name", "task", "command", "score", "mean", "weights_0", "high"]))
    if victim in facts:
        facts[victim] = odd
        refused = type(odd) is not (float if victim == "score" else str)
    else:
        shape = data.draw(st.sampled_from([(), (0,), (3,), (2, 2, 1), (1, 2)]))
        arrays[victim] = data.draw(st.sampled_from([np.ones(shape, np.float32), arrays[victim].astype(int)]))
        refused = True
    path = tmp_path / "odd.primitive"
    save_arrays(path, arrays, facts)
    previous(path).unlink(missing_ok=True)
    if refused:
        with pytest.raises(DiprlError, match=r"odd\.primitive"):
            load_primitive(path)
    else:
        load_primitive(path)


CONFIG: dict[str, Any] = RunSpec("CartPole-v1").to_json() | {
    "settings": {"num_envs": 8, "num_steps": 32, "minibatch_size": 64},
    "session": {"backend": "auto", "env_timeout": None},
}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"task": "os:Env-v0"}, "whose module would run"),
        ({"task": 3}, "must be text"),
        ({"env_kwargs": [1]}, "env_kwargs must be an object"),
        ({"schema": 1}, "written by another version of diprl"),
        ({"method": []}, "method must be text"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"seed": 10**30}, "seed must be at most"),
        ({"settings": {"num_envs": 10**9}}, "num_envs must be a number of at most"),
        ({"settings": {"total_timesteps": 10**400}}, "total_timesteps must be a number of at most"),
        ({"settings": {"num_envs": 1 << 15, "num_steps": 1 << 15}}, "is larger than 4194304"),
        ({"settings": {"gamma": float("nan")}}, "gamma must be a number"),
        ({"settings": {"x" * 100_000: 1}}, "unknown setting"),
        ({"settings": 7}, "settings must be an object"),
        ({"session": {"backend": "sink"}}, "unknown backend"),
        ({"episodes": "many"}, "episodes must be at least 1"),
        ({"session": {"env_timeout": "long"}}, "env_timeout must be a positive number"),
        ({"session": {"folder": "elsewhere"}}, "session must be an object with backend and env_timeout"),
    ],
)
def test_a_hostile_config_is_refused_by_name(change: dict[str, Any], reason: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG | change))
    with pytest.raises(DiprlError, match=rf"config\.json: .*{reason}") as caught:
        Train().resumed_session(tmp_path)
    assert len(str(caught.value)) < 2000


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@one_file
@given(st.sampled_from(list(CONFIG)), json_values)
def test_no_value_in_a_config_escapes(tmp_path: Path, key: str, value: Any) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG | {key: value}))
    message = ""
    try:
        Train().resumed_session(tmp_path)
    except DiprlError as error:
        message = str(error)
    assert "config.json: " in message or not message


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no endless file here")
def test_endless_files_are_given_up() -> None:
    endless = Path("/dev/zero")
    with pytest.raises(DiprlError, match="/dev/zero: not a regular file"):
        Program.load(endless)
    for load in (read_json, load_facts, load_primitive):
        with pytest.raises(DiprlError, match="/dev/zero: not a regular file"):
            load(endless)


def test_a_checkpoint_s_header_is_bounded(tmp_path: Path) -> None:
    content = b'{"schema": 2, "arrays": [], "facts": {"x": "' + b"y" * LARGEST_HEADER + b'"}}\n'
    path = tmp_path / "large"
    path.write_bytes(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
    with pytest.raises(StorageError, match=r"large: .*header is not JSON"):
        load_facts(path)


@pytest.mark.parametrize("line", ["[]", "3", '{"x": "y"}', '{"x": [1]}', "[" * 100_000, '"\\ud800"', '{"x": true}'])
def test_lines_that_are_no_metrics_end_the_metrics(line: str, tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"x": 1.5}\n' + line + '\n{"x": 2}\n')
    assert read_rows(path) == [{"x": 1.5}]
    path.write_bytes(b'{"x": 1.5}\n\xff\xfe\n')
    assert read_rows(path) == [{"x": 1.5}]


def test_a_file_has_no_module_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program may name `module:Id` as its environment; only a user may."""
    (tmp_path / "evil_module.py").write_text("raise SystemExit('code from a file ran')")
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "program.txt"
    path.write_text("task: evil_module:Env-v0\n" + PROGRAM)
    program = Program.load(path)
    assert program.task == "evil_module:Env-v0"
    with pytest.raises(DiprlError, match="'evil_module:Env-v0', whose module would run: if you trust it, name it"):
        task_of(path, program)
    with pytest.raises(DiprlError, match="whose module would run"):
        refuse_module("evil_module:Env-v0")


def test_long_names_are_neither_compared_nor_shown_whole() -> None:
    with pytest.raises(DiprlError) as caught:
        Program.from_text(f"features: x\nactions: no\nif {'y' * 500_000} > 0: no\nelse: no")
    assert len(str(caught.value)) < 300
    with pytest.raises(DiprlError, match="longer than 1000000 characters"):
        Program.from_text("x" * 1_000_001)


@pytest.mark.parametrize("name", ["num_envs", "hidden_size", "max_depth", "members", "num_epochs"])
def test_settings_have_an_end(name: str) -> None:
    with pytest.raises(DiprlError, match=f"{name} must be a number of at most"):
        Settings().with_values(**{name: 10**8})


MODEL = RunSpec("CartPole-v1").to_json()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"method": "ppo"}, "a model of method 'ppo'"),
        ({"task": "os:Env-v0"}, "whose module would run"),
        ({"task": []}, "must be text"),
        ({"settings": {"features": [["x", "", "y"]]}}, "unknown setting 'features'"),
        ({"settings": {"hidden_size": 10**9}}, "hidden_size must be a number of at most"),
        ({"settings": []}, "settings must be an object"),
        ({"feature_names": [1, 2, 3, 4]}, "feature_names must be a list of names"),
        ({"env_kwargs": 3}, "env_kwargs must be an object"),
        ({"seed": "x"}, "seed must be a whole number"),
    ],
)
def test_a_hostile_model_is_refused_by_name(change: dict[str, Any], reason: str, tmp_path: Path) -> None:
    from diprl import DiPRL

    path = tmp_path / "model"
    save_tree(path, {"x": np.zeros(3, np.float32)}, {"spec": MODEL | change, "fraction": 1.0})
    with pytest.raises(DiprlError, match=f"model: .*({reason})|{reason}") as caught:
        DiPRL.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "result", [{"score": 3}, {"score": {"ci95": 1}, "seed": 0}, {"gap": [1], "relaxed_score": "x"}]
)
def test_a_report_on_a_hostile_result_is_one_sentence(result: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    from diprl.report.page import write_report

    (tmp_path / "program.json").write_text(Program.from_text(PROGRAM).to_json())
    (tmp_path / "result.json").write_text(json.dumps(result))
    with pytest.raises(DiprlError, match=r"result\.json: not the result of a run"):
        write_report(tmp_path, episodes=1)

"""Files from strangers: one error that names the file and the reason, within bounds, and nothing in them runs."""

import hashlib
import json
import os
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diprl.cli.train import Train, resumed_session
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.runs.folder import task_of
from diprl.runs.observers import read_rows
from diprl.runs.spec import RunSpec
from diprl.system.files import read_json
from diprl.system.storage import LARGEST_HEADER, StorageError, load_facts
from diprl.tasks.mujoco.primitive_files import load_primitive, save_primitive
from diprl.tasks.mujoco.primitives import Primitive
from diprl.tasks.registry import harmless
from diprl.train.checkpoint import save_checkpoint
from diprl.train.settings import Settings

PROGRAM = "features: x\nactions: no, yes\nif x > 0: yes\nelse: no"
one_file = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def primitive_bytes(folder: Path) -> bytes:
    unit, path = np.ones(2), folder / "good.npz"
    layers = ((np.ones((2, 3)), np.ones(3)), (np.ones((3, 2)), np.ones(2)))
    save_primitive(Primitive("p", "t", 1.0, "made here", unit, unit, layers, -unit, unit), path)
    return path.read_bytes()


def entries(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: dict[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", how) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def array_bytes(head: str, body: bytes = b"") -> bytes:
    text = head.encode() + b" " * (117 - len(head) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


def hostile_archives(good: bytes) -> dict[str, tuple[bytes, str]]:
    parts = entries(good)
    endless = array_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (999999999, 999999999), }", bytes(8))
    objects = array_bytes("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", b"cos\nsystem\n(S'true'\ntR.")
    running = array_bytes("{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (), }")
    nested = array_bytes("(" * 5000)
    header = json.loads(str(np.load(BytesIO(good))["header"]))
    newer = np.array(json.dumps(header | {"schema": "diprl-primitive/2"}))
    newer_bytes = BytesIO()
    np.save(newer_bytes, newer, allow_pickle=False)
    return {
        "empty": (b"", "not a readable primitive"),
        "not an archive": (b"PK\x03\x04 but not really", "not a readable primitive"),
        "bomb": (packed(parts | {"mean.npy": bytes(1 << 28)}), "unfolds into more"),
        "many entries": (packed({f"{n}.npy": b"" for n in range(300)}), "unfolds into more"),
        "endless array": (packed(parts | {"mean.npy": endless}), "longer or shorter than it says"),
        "pickled objects": (packed(parts | {"mean.npy": objects}), "other than plain arrays"),
        "code in a head": (packed(parts | {"mean.npy": running}), "other than plain arrays"),
        "nested head": (packed(parts | {"mean.npy": nested}), "other than plain arrays"),
        "odd packing": (packed(parts, zipfile.ZIP_BZIP2), "packed in a way"),
        "another version": (packed(parts | {"header.npy": newer_bytes.getvalue()}), "has the schema"),
        "no header": (packed({"mean.npy": parts["mean.npy"]}), "header"),
        "damaged": (
            packed(parts | {"mean.npy": parts["std.npy"][:-1] + b"\x40"}),
            "does not match its checksum",
        ),
    }


HOSTILE_ARCHIVES = (
    "empty", "not an archive", "bomb", "many entries", "endless array", "pickled objects", "code in a head",
    "nested head", "odd packing", "another version", "no header", "damaged",
)  # fmt: skip


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[bytes, str]]:
    return hostile_archives(primitive_bytes(tmp_path_factory.mktemp("good")))


@pytest.mark.parametrize("name", HOSTILE_ARCHIVES)
def test_a_hostile_primitive_is_refused_by_name(
    name: str, archives: dict[str, tuple[bytes, str]], tmp_path: Path
) -> None:
    content, reason = archives[name]
    path = tmp_path / "hostile.npz"
    path.write_bytes(content)
    with pytest.raises(DiprlError, match=rf"hostile\.npz.*{reason}"):
        load_primitive(path)


@one_file
@given(st.data())
def test_a_consistent_primitive_of_the_wrong_kind_is_refused(tmp_path: Path, data: st.DataObject) -> None:
    """The checksum holds, so only what the header and the arrays say can give the file away."""
    from diprl.tasks.mujoco.primitive_files import _checksum

    unit = np.ones(2, "<f4")
    arrays: dict[str, Any] = {"mean": unit, "std": unit, "low": -unit, "high": unit}
    arrays |= {"weights_0": np.ones((2, 2), "<f4"), "bias_0": unit}
    odd = data.draw(st.sampled_from([None, 0, 1.5, "x", [], {}, True, 10**30, -1]))
    header: dict[str, Any] = {
        "schema": "diprl-primitive/1", "name": "p", "task": "t", "score": 1.0, "command": "c", "layers": 1,
    }  # fmt: skip
    victim = data.draw(st.sampled_from(["name", "task", "command", "layers", "mean", "weights_0", "high"]))
    if victim in header:
        header[victim] = odd
        refused = not (isinstance(odd, str) and victim != "layers")
    else:
        arrays[victim] = np.ones(data.draw(st.sampled_from([(), (0,), (3,), (2, 2, 1), (1, 2)])), "<f4")
        refused = True
    header["checksum"] = _checksum(header, arrays)
    path = tmp_path / "odd.npz"
    np.savez(path, header=np.array(json.dumps(header)), **arrays)
    if refused:
        with pytest.raises(DiprlError, match=r"odd\.npz"):
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
        ({"settings": {"num_envs": 1 << 15, "num_steps": 1 << 15}}, "is larger than 16777216"),
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
        resumed_session(Train(resume=tmp_path))
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
        resumed_session(Train(resume=tmp_path))
    except DiprlError as error:
        message = str(error)
    assert "config.json: " in message or not message


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no endless file here")
def test_endless_files_are_given_up() -> None:
    endless = Path("/dev/zero")
    with pytest.raises(DiprlError, match="/dev/zero: the file is too large"):
        Program.load(endless)
    with pytest.raises(DiprlError, match="/dev/zero: not a regular file"):
        read_json(endless)
    with pytest.raises(DiprlError, match="/dev/zero: not a regular file"):
        load_facts(endless)
    with pytest.raises(DiprlError, match="/dev/zero' is not a readable primitive"):
        load_primitive(endless)


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
        harmless("evil_module:Env-v0")


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
    save_checkpoint(path, {"x": np.zeros(3, np.float32)}, {"spec": MODEL | change, "fraction": 1.0})
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
    with pytest.raises(DiprlError, match="are not those of a run"):
        write_report(tmp_path, episodes=1)

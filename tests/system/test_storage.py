"""Checkpoints: every bit comes back, and no file, however broken, does more than raise one clear error."""

import hashlib
import json
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diprl.system.storage import StorageError, is_stored, load_facts, load_tree, save_tree

FACTS = {"steps": 4096, "seed": 3}


def state(seed: int = 0) -> dict[str, Any]:
    """Arrays of several types, some empty, some of no dimension, with numbers that are easy to lose."""
    generator = np.random.default_rng(seed)
    odd = np.array([0.1, -0.0, 1e-45, np.inf, np.nan, 3.4e38], np.float32)
    return {
        "numbers": jnp.asarray(generator.normal(size=(3, 4)), jnp.float32),
        "odd": jnp.asarray(odd),
        "count": jnp.asarray(np.int32(7)),
        "flags": jnp.asarray(np.array([True, False])),
        "empty": jnp.zeros((0, 2)),
        "key": jr.key(seed),
    }


def raw(tree: dict[str, Any]) -> dict[str, bytes]:
    numbers = {name: jr.key_data(leaf) if name == "key" else leaf for name, leaf in tree.items()}
    return {name: np.asarray(leaf).tobytes() for name, leaf in numbers.items()}


def signed(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "checkpoint"
    save_tree(file, state(), FACTS)
    return file


def test_every_bit_comes_back(path: Path) -> None:
    loaded, facts = load_tree(path, state(seed=9))
    assert raw(loaded) == raw(state())
    assert facts == FACTS == load_facts(path)
    assert jr.uniform(loaded["key"]) == jr.uniform(jr.key(0))


def test_nothing_but_the_checkpoint_remains(path: Path) -> None:
    assert [file.name for file in path.parent.iterdir()] == ["checkpoint"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_flipped_bit_goes_unnoticed(path: Path, data: st.DataObject) -> None:
    intact = path.read_bytes()
    bit = data.draw(st.integers(0, 8 * len(intact) - 1))
    broken = bytearray(intact)
    broken[bit // 8] ^= 1 << bit % 8
    target = path.with_name("broken")
    target.write_bytes(broken)
    with pytest.raises(StorageError, match="broken: "):
        load_tree(target, state())


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_truncation_goes_unnoticed(path: Path, data: st.DataObject) -> None:
    intact = path.read_bytes()
    target = path.with_name("cut")
    target.write_bytes(intact[: data.draw(st.integers(0, len(intact) - 1))])
    with pytest.raises(StorageError, match=r"truncated or damaged|does not begin with a checksum"):
        load_tree(target, state())


GOOD = {"schema": 2, "arrays": [], "facts": {}}
HOSTILE = {
    "not JSON": (b"{]", "header is not JSON"),
    "deep": (b"[" * 100_000, "header is not JSON"),
    "not an object": (b"[1, 2]", "header lacks"),
    "no arrays": (b'{"schema": 2, "facts": {}}', "header lacks"),
    "another schema": (json.dumps(GOOD | {"schema": 99}).encode(), "schema 99 is not 2"),
    "odd schema": (json.dumps(GOOD | {"schema": [1]}).encode(), r"schema \[1\] is not 2"),
    "facts": (json.dumps(GOOD | {"facts": [1]}).encode(), "facts are not an object"),
    "huge array": (json.dumps(GOOD | {"arrays": [["float32", [10**12]]]}).encode(), "other settings"),
    "object array": (json.dumps(GOOD | {"arrays": [["object", [1]]]}).encode(), "other settings"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_header_is_refused_with_file_and_reason(tmp_path: Path, name: str) -> None:
    header, reason = HOSTILE[name]
    file = tmp_path / "hostile"
    file.write_bytes(signed(header + b"\n" + bytes(64)))
    with pytest.raises(StorageError, match=f"hostile: .*{reason}"):
        load_tree(file, state())


def test_another_run_s_checkpoint_is_refused(path: Path) -> None:
    other = state() | {"numbers": jnp.zeros((4, 3))}
    with pytest.raises(StorageError, match="other settings"):
        load_tree(path, other)


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    assert not is_stored(tmp_path / "none")
    with pytest.raises(StorageError, match=r"none: cannot be read \(No such file"):
        load_tree(tmp_path / "none", state())


@pytest.mark.parametrize("fate", ["damaged", "lost between the renames"])
def test_the_previous_checkpoint_stands_in(path: Path, fate: str) -> None:
    save_tree(path, state(seed=1), FACTS | {"steps": 8192})
    if fate == "damaged":
        path.write_bytes(path.read_bytes()[:-1])
    else:
        path.unlink()
    assert is_stored(path)
    loaded, facts = load_tree(path, state())
    assert raw(loaded) == raw(state(seed=0))
    assert facts == FACTS == load_facts(path)


def test_a_write_that_fails_leaves_the_old_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_tree(path, state(seed=1), FACTS)
    assert raw(load_tree(path, state())[0]) == raw(state(seed=0))

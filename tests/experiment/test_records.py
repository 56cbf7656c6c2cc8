"""The store: nothing lost, nothing twice, whatever happens to the process that writes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diprl.errors import DiprlError
from diprl.experiment.grid import Store
from diprl.runs.observers import CURVE_POINTS, STEPS, spread, thinned_curve

WRITER = """
import sys
from pathlib import Path
from diprl.experiment.grid import Store
store = Store(Path(sys.argv[1]))
print(sum(store.append({"key": f"run{index}", "writer": sys.argv[2]}) for index in range(40)))
"""


def test_a_key_is_written_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.append({"key": "a", "value": 1})
    assert not store.append({"key": "a", "value": 2})
    assert store.extend([{"key": "a"}, {"key": "b"}, {"key": "b"}]) == 1
    assert [record["key"] for record in store.lines()] == ["a", "b"]
    assert store.read()["a"]["value"] == 1


@given(cut=st.integers(min_value=1))
def test_a_torn_line_is_ignored_and_repaired(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    store = Store(tmp_path_factory.mktemp("store"))
    store.extend([{"key": "a"}, {"key": "é", "text": "line\nbreak"}])
    whole = store.path.read_bytes()
    last = len(whole) - whole[:-1].rfind(b"\n") - 1
    store.path.write_bytes(whole[: len(whole) - 1 - cut % last])
    assert list(store.read()) == ["a"]
    assert store.append({"key": "é", "text": "line\nbreak"})
    assert store.path.read_bytes() == whole


def test_processes_do_not_write_one_record_twice(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name], stdout=subprocess.PIPE, text=True)
        for name in ("one", "two")
    ]
    added = [int(writer.communicate()[0]) for writer in writers]
    assert sum(added) == 40
    assert sorted(record["key"] for record in Store(tmp_path).lines()) == sorted(f"run{i}" for i in range(40))


def test_an_amendment_replaces_fields_and_keeps_the_line(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.append({"key": "a", "score": 1, "seed": 3})
    assert store.amend("a", "score", {"score": 2})
    assert not store.amend("a", "score", {"score": 4})
    assert store.read() == {"a": {"key": "a", "score": 2, "seed": 3}}
    assert json.loads(store.path.read_text().splitlines()[0])["score"] == 1


def test_a_number_that_is_not_finite_becomes_null(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.append({"key": "a", "score": {"ci95": (float("-inf"), 2.0)}})
    assert store.read()["a"]["score"]["ci95"] == [None, 2.0]


def test_a_foreign_line_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.append({"key": "a"})
    store.path.write_text(store.path.read_text() + "[1]\n")
    with pytest.raises(DiprlError, match=r"records\.jsonl, line 2"):
        store.read()


@given(count=st.integers(0, 500), points=st.integers(2, 60))
def test_spread_keeps_both_ends(count: int, points: int) -> None:
    kept = spread(count, points)
    assert len(kept) == min(count, points)
    assert kept == sorted(set(kept))
    assert not count or {kept[0], kept[-1]} == {0, count - 1}


def test_a_curve_is_thinned_and_of_repeated_rows_the_last_counts() -> None:
    rows = [{STEPS: float(step), "eval/program": 0.0, "time/fps": 1.0} for step in range(100)]
    rows += [{STEPS: 99.0, "eval/program": 0.12345678, "eval/distance": None}]
    curve = thinned_curve(rows)
    assert len(curve["steps"]) == CURVE_POINTS
    assert curve["eval/program"][-1] == 0.123457
    assert set(curve) == {"steps", "eval/program"}

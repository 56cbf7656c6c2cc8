"""Names and texts that mean something in a target language: everything written is valid, and acts as it should."""

from pathlib import Path

import pytest

from diprl.export import TARGETS
from tests.export.hostile import programs, try_all


def test_hostile_names_change_nothing(tmp_path: Path) -> None:
    """`python -m tests.export.hostile 1000` does the same for a thousand programs."""
    for package in ("blark", "fmpy", "onnxruntime"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    counts = try_all(list(programs(15, seed=7)), tmp_path)
    assert counts["wrong actions"] == counts["invalid"] == counts["refused"] == 0, counts
    assert counts["valid"] == 15 * len(TARGETS)

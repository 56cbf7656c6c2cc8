"""Compiled code takes memory maps, of which Linux lets a process have only so many."""

from itertools import pairwise
from pathlib import Path

import jax
import pytest

from diprl import DiPRL
from diprl.system import device

ROOM = 2000
"""Memory maps; a small training takes more than half of them."""


def maps_taken() -> int:
    return device.MAPS.read_bytes().count(b"\n")


@pytest.mark.skipif(not device.MAPS.exists(), reason="only Linux counts memory maps")
def test_many_trainings_fit_into_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jax.clear_caches()
    at_first, most = maps_taken(), tmp_path / "most"
    most.write_text(str(2 * (at_first + ROOM)))
    monkeypatch.setattr(device, "MOST_MAPS", most)
    taken = []
    for depth in range(2, 7):
        DiPRL("CartPole-v1", max_depth=depth, num_envs=8, num_steps=32, polish_share=0.0).learn(512, episodes=2)
        taken.append(maps_taken() - at_first)
    assert max(taken) < 2 * ROOM
    assert any(later < sooner for sooner, later in pairwise(taken)), "room was made"

"""Without the optional packages every command that needs one says which extra brings it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reliability.bare import commands

EXTRAS = tuple(commands(Path()))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    command = [sys.executable, "-m", "tests.reliability.bare", str(tmp_path_factory.mktemp("bare"))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_missing_extra_is_named(extra: str, outcomes: dict[str, tuple[int, str]]) -> None:
    code, message = outcomes[extra]
    assert code == 2, message
    assert f"pip install 'diprl[{extra}]'" in message
    assert len(message.splitlines()) == 1

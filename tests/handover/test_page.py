"""The page in the docs: its commands run, its specification is the example's, its picture is drawn anew."""

import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from diprl.export import c_check
from diprl.export.guard import FLAGS, MEANINGS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "handover.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S) for line in block.splitlines()]
CODES = {"diprl handover examples": 1}
"""Exit codes other than zero, as the page says."""


@pytest.mark.skipif(c_check.compiler() is None, reason="no C compiler")
def test_the_commands_run(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    assert len(COMMANDS) == 5
    for command in COMMANDS:
        words = shlex.split(command)
        words = [sys.executable, "-m", *words] if words[0] == "diprl" else words
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
        expected = next((code for start, code in CODES.items() if command.startswith(start)), 0)
        assert done.returncode == expected, done.stdout + done.stderr
        if "cortex-m" in command and "for want of" in done.stdout:
            assert not (shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm"))
        elif words[0] == "make" and "stack" not in command:
            assert "all vectors pass" in done.stdout
        for left in ("run_vectors", "run_vectors.elf", "unit.o"):
            (tmp_path / "handed" / "vectors" / left).unlink(missing_ok=True)


def test_the_specification_shown_is_the_example() -> None:
    (shown,) = re.findall(r"^```yaml\n(.*?)^```", TEXT, re.M | re.S)
    example = (ROOT / "examples" / "cartpole.requirements.yaml").read_text()
    assert [line for line in shown.splitlines() if line not in example.splitlines()] == []


def test_the_flags_are_those_of_the_code() -> None:
    for flag, bit in FLAGS.items():
        assert f"| {bit} `{flag}` | {MEANINGS[flag]} |" in TEXT


def test_the_picture_is_up_to_date() -> None:
    drawn = runpy.run_path(str(ROOT / "docs" / "images" / "handover.py"))["picture"]()
    assert drawn == (ROOT / "docs" / "images" / "handover.svg").read_text(encoding="utf-8")

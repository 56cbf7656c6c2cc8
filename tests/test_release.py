"""What is published: a wheel that works on its own, bounds that say what was tested, a list of what it brings."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def printed(script: str) -> str:
    command = [sys.executable, str(ROOT / ".ci" / script)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_every_dependency_has_one_lowest_version() -> None:
    lines = printed("lowest.py").splitlines()
    names = [line.partition("==")[0] for line in lines]
    assert len(names) == len(set(names))
    needed = {re.match(r"[\w-]+", line)[0] for line in PROJECT["dependencies"]}  # type: ignore[index]
    assert needed <= set(names)


def test_the_bill_of_materials_names_what_is_installed() -> None:
    bill = json.loads(printed("sbom.py"))
    assert bill["metadata"]["component"]["name"] == "diprl"
    assert {"numpy", "jax", "gymnasium"} <= {part["name"].lower() for part in bill["components"]}

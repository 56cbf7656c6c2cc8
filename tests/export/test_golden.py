"""What the exports look like: two programs in every text form, kept as files.

`python -m tests.export.test_golden` writes the files anew after an intended change.
"""

from importlib import import_module
from pathlib import Path

import pytest

from diprl.export.c import render_main
from diprl.program import Program
from tests.export.examples import CHAIN, NESTED

FOLDER = Path(__file__).with_name("golden")
TARGETS = ("python", "c", "json", "latex", "svg", "st")


def rendered(program: Program, target: str) -> dict[str, str]:
    """File names and contents; the suffix keeps test runners and linters from reading them as code."""
    files = import_module(f"diprl.export.{target}").render(program, ())
    files |= render_main(program) if target == "c" else {}
    return {f"{name}.golden": text for name, text in files.items()}


@pytest.mark.parametrize("program", [CHAIN, NESTED], ids=["chain", "nested"])
@pytest.mark.parametrize("target", TARGETS)
def test_golden(program: Program, target: str) -> None:
    for name, text in rendered(program, target).items():
        assert text == (FOLDER / name).read_text(encoding="utf-8")


if __name__ == "__main__":
    for each in (CHAIN, NESTED):
        for target_name in TARGETS:
            for file_name, content in rendered(each, target_name).items():
                (FOLDER / file_name).write_text(content, encoding="utf-8")

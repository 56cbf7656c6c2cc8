"""What the README shows works: its Python runs, its commands exist with the options it names."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from diprl.cli.main import COMMANDS, find_command
from diprl.cli.options import parse

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def commands(first_word: str) -> list[list[str]]:
    lines = "".join(blocks("sh")).splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith(first_word + " ")]


def quick(code: str) -> str:
    """The same code on a budget that only shows that it runs."""
    return re.sub(r"learn\([\d_]+", "learn(2_048", code)


@pytest.mark.parametrize("code", blocks("python"))
def test_python_runs(code: str, tmp_path: Path) -> None:
    assert quick(code) != code
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", quick(code)],
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "if " in done.stdout or "actions:" in done.stdout


@pytest.mark.parametrize("words", commands("diprl"), ids=" ".join)
def test_commands_exist_with_their_options(words: list[str]) -> None:
    _, name, *arguments = words
    assert name in COMMANDS
    parse(find_command(name), name, arguments)


@pytest.mark.parametrize("words", commands("make"), ids=" ".join)
def test_make_targets_exist(words: list[str]) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{words[1]}:", makefile, flags=re.MULTILINE)


def test_the_readme_shows_both_ways_in() -> None:
    assert blocks("python")
    assert {"demo", "test"} <= {words[1] for words in commands("make")}
    assert {"train", "eval", "show", "tasks"} <= {words[1] for words in commands("diprl")}


def test_every_link_leads_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", TEXT)
    assert [target for target in targets if not (ROOT / target).exists()] == []

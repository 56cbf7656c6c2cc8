"""What the README shows works: its Python runs, its commands exist with the options it names."""

import re
import shlex
import subprocess
import sys
from functools import cache
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest

from diprl.cli.main import COMMANDS, find_command
from diprl.cli.options import parse
from diprl.experiment.records import Store
from diprl.experiment.suites import CONTINUOUS, DISCRETE, SEEDS
from diprl.experiment.tables import published
from diprl.runs.result import Result

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def commands(first_word: str) -> list[list[str]]:
    lines = "".join(blocks("sh")).splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith(first_word + " ")]


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


def test_the_program_shown_is_the_program_printed(tmp_path: Path) -> None:
    """The first Python block at its full budget, against the text block that shows its output."""
    code, shown = blocks("python")[0].replace(", progress_bar=True", ""), blocks("text")[0]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    assert done.stdout == shown


def table(title: str) -> dict[str, list[str]]:
    """Rows by their first cell, of the first table after a piece of text, without the head."""
    lines = TEXT.partition(title)[2].splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("| "))
    rows = [line.strip("| ").split(" | ") for line in takewhile(lambda line: line.startswith("|"), lines[first:])]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in rows}


@cache
def recorded(task: str, method: str) -> list[Result]:
    records = Store(ROOT / "results").read().values()
    results = [Result.from_json(record) for record in records if (record["task"], record["method"]) == (task, method)]
    wanted = [each for each in results if (each.spec.preset, each.spec.variant) == ("default", "")]
    return [each for each in wanted if each.spec.seed in SEEDS]


def number(text: str) -> float:
    return float(text.replace("−", "-"))


@pytest.mark.parametrize(
    ("row", "method"), [("DiPRL", "diprl"), ("neural PPO", "ppo"), ("DTSemNet", "dtsemnet"), ("VIPER", "viper")]
)
def test_scores_are_those_of_the_records(row: str, method: str) -> None:
    cells = table("## Numbers")[f"{row}, this project"]
    for task, cell in zip(DISCRETE, cells, strict=True):
        results = recorded(task, method)
        assert sorted(result.spec.seed for result in results) == sorted(SEEDS)
        digits = len(cell.partition(".")[2])
        assert number(cell) == round(float(np.mean([result.score.mean for result in results])), digits), task


def test_scores_of_the_robots_are_those_of_the_records() -> None:
    cells = table("Four MuJoCo tasks")["DiPRL, this project"]
    for task, cell in zip(CONTINUOUS, cells, strict=True):
        scores = [result.score for result in recorded(task, "diprl")]
        found = [[score.mean, score.extra["distance"], score.extra["is_success"]] for score in scores]
        shown = [number(part) for part in cell.split(", ")]
        assert shown == [round(value, 2) for value in np.mean(found, axis=0).tolist()], task


def test_the_paper_s_scores_are_the_paper_s() -> None:
    cells = table("## Numbers")["DiPRL, the paper"]
    published_scores = [published("discrete_reward", "DiPRL", task=task) for task in DISCRETE]
    assert [number(cell) for cell in cells] == [cell[0] for cell in published_scores if cell]


def measured(row: str) -> list[float]:
    """The numbers in a row of the page about performance."""
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    found = re.search(rf"^\| {row} \|(.*)\|$", page, re.MULTILINE)
    assert found is not None
    return [float(cell.replace(",", "")) for cell in found[1].split("|")]


def claimed(pattern: str) -> list[float]:
    """The numbers in a sentence of the README."""
    found = re.search(pattern.replace("N", r"([\d.]+)"), TEXT, re.DOTALL)
    assert found is not None
    return [float(text) for text in found.groups()]


def test_speeds_are_those_measured() -> None:
    _, stable_baselines, rejax = measured("diprl, PPO")
    assert claimed("PPO takes N times .*? and N times") == [round(stable_baselines), round(rejax, 1)]
    _, stable_baselines, rejax = measured("diprl, DiPRL")
    assert claimed("DiPRL N and N times") == [round(stable_baselines), round(rejax, 1)]
    seconds = [round(measured(row)[0]) for row in ("cached", "none cached")]
    assert claimed("it takes N seconds, N the first time") == seconds


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_every_link_and_path_of_the_docs_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", text)
    assert [target for target in targets if not (page.parent / target).exists()] == []
    paths = re.findall(r"`(src/diprl/[\w/]+\.py|tests/[\w/]+\.py|benchmarks/[\w/]+\.py)`", text)
    assert [path for path in paths if not (ROOT / path).exists()] == []

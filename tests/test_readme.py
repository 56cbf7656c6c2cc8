"""What the README and the results page say: short enough, and every number that of a record."""

import os
import re
import subprocess
import sys
from functools import cache
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest

from diprl.experiment.grid import Store
from diprl.experiment.suites import CONTINUOUS, DISCRETE, SEEDS
from diprl.experiment.tables import published
from diprl.runs.result import Result
from tests import rounding

ROOT = Path(__file__).parent.parent
README, RESULTS, CONCEPTS = ROOT / "README.md", ROOT / "docs" / "results.md", ROOT / "docs" / "concepts.md"
SCORED = {README: "## Results", RESULTS: "## Five discrete tasks", CONCEPTS: "What this changes"}
"""Pages with a table of scores, and what stands before it."""


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text_of(README), flags=re.MULTILINE | re.DOTALL)


def test_the_readme_takes_two_minutes() -> None:
    assert len(text_of(README).splitlines()) <= 120
    assert len(blocks("python")[0].splitlines()) <= 12


def test_the_readme_links_every_term_where_it_is_first_used() -> None:
    terms = re.findall(r"^### (.+)$", text_of(ROOT / "docs" / "glossary.md"), re.MULTILINE)
    prose = re.sub(r"^```.*?^```|^#.*$|<!--.*?-->|`[^`]*`", "", text_of(README), flags=re.MULTILINE | re.DOTALL)
    explained = {"program": "short if/else chains", "feature": "names, units and ranges"}
    for term in terms:
        first = re.search(rf"(?<![\w-]){term}s?(?![\w-])", prose, re.IGNORECASE)
        if first is None:
            continue
        linked = any(link.start() <= first.start() < link.end() for link in re.finditer(r"\[[^\]]*\]\(", prose))
        near = prose[first.start() : first.start() + 60].replace("\n", " ")
        assert linked or explained.get(term, "nothing") in near, f"{term}: {near}"


def test_every_link_leads_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", text_of(README))
    assert [target for target in targets if not (ROOT / target).exists()] == []


@pytest.mark.skipif(not rounding.SAME, reason=rounding.ELSEWHERE)
def test_the_program_shown_is_the_program_printed(tmp_path: Path) -> None:
    """The first Python block at its full budget, against the text block that shows its output."""
    code, shown = blocks("python")[0].replace(", progress_bar=True", ""), blocks("text")[0]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    if os.environ.get("UPDATE_DOCS"):
        README.write_text(text_of(README).replace(shown, done.stdout), encoding="utf-8")
    assert os.environ.get("UPDATE_DOCS") or done.stdout == shown


def table(page: Path, title: str) -> dict[str, list[str]]:
    """Rows by their first cell, of the first table after a piece of text, without the head."""
    lines = text_of(page).partition(title)[2].splitlines()
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


ROWS = {
    "DiPRL, this project": "diprl",
    "neural PPO, this project": "ppo",
    "DTSemNet, this project": "dtsemnet",
    "VIPER, this project": "viper",
}


@pytest.mark.parametrize(("page", "title"), SCORED.items(), ids=[page.name for page in SCORED])
def test_scores_are_those_of_the_records(page: Path, title: str) -> None:
    rows = table(page, title)
    assert {"DiPRL, this project", "DiPRL, the paper"} < rows.keys()
    for row in rows.keys() & ROWS.keys():
        for task, cell in zip(DISCRETE, rows[row], strict=True):
            results = recorded(task, ROWS[row])
            assert sorted(result.spec.seed for result in results) == sorted(SEEDS)
            digits = len(cell.partition(".")[2])
            assert number(cell) == round(float(np.mean([result.score.mean for result in results])), digits), task
    published_scores = [published("discrete_reward", "DiPRL", task=task) for task in DISCRETE]
    assert [number(cell) for cell in rows["DiPRL, the paper"]] == [cell[0] for cell in published_scores if cell]


def test_scores_of_the_paper_s_settings_are_those_of_their_page() -> None:
    page = text_of(ROOT / "results" / "discrete-paper" / "README.md")
    found = re.search(r"^\| DiPRL +\| ours +\|(.+)\|$", page, re.MULTILINE)
    assert found is not None
    ours = [number(cell.partition("±")[0]) for cell in found[1].split("|")]
    assert [number(cell) for cell in table(CONCEPTS, "What this changes")["DiPRL, `paper` preset"]] == ours


def test_scores_of_the_robots_are_those_of_the_records() -> None:
    cells = table(RESULTS, "Four MuJoCo tasks")["DiPRL, this project"]
    for task, cell in zip(CONTINUOUS, cells, strict=True):
        scores = [result.score for result in recorded(task, "diprl")]
        found = [[score.mean, score.extra["distance"], score.extra["is_success"]] for score in scores]
        shown = [number(part) for part in cell.split(", ")]
        assert shown == [round(value, 2) for value in np.mean(found, axis=0).tolist()], task


def measured(row: str) -> list[float]:
    """The numbers in a row of the page about performance."""
    found = re.search(rf"^\| {row} \|(.*)\|$", text_of(ROOT / "docs" / "performance.md"), re.MULTILINE)
    assert found is not None
    return [float(cell.replace(",", "")) for cell in found[1].split("|")]


def claimed(pattern: str) -> list[float]:
    """The numbers in a sentence of the results page."""
    found = re.search(pattern.replace("N", r"([\d.]+)"), text_of(RESULTS), re.DOTALL)
    assert found is not None
    return [float(text) for text in found.groups()]


def test_speeds_are_those_measured() -> None:
    _, stable_baselines, rejax = measured("diprl, PPO")
    assert claimed("PPO takes N times .*?\nN times") == [round(stable_baselines), round(rejax, 1)]
    _, stable_baselines, rejax = measured("diprl, DiPRL")
    assert claimed("DiPRL N and N times") == [round(stable_baselines), round(rejax, 1)]
    seconds = [round(measured(row)[0]) for row in ("cached", "none cached")]
    assert claimed("it takes N seconds,\nN the first time") == seconds


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_every_link_and_path_of_the_docs_leads_somewhere(page: Path) -> None:
    made = {"commands.md", "settings.md"}  # by docs/hooks, when the site is built
    text = text_of(page)
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    assert [target for target in targets if target not in made and not (page.parent / target).exists()] == []
    paths = re.findall(r"`(src/diprl/[\w/]+\.py|tests/[\w/]+\.py|benchmarks/[\w/]+\.py)`", text)
    assert [path for path in paths if not (ROOT / path).exists()] == []

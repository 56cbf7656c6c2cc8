"""The committed pages: each is, word for word, what the command on it makes of the committed records."""

import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from diprl.cli.options import parse
from diprl.cli.reproduce import Reproduce
from diprl.experiment.figures import FIGURES
from diprl.experiment.grid import Record, Store
from diprl.experiment.reproduce import page_text, pages
from diprl.experiment.request import Request
from diprl.experiment.suites import SUITES

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"^Made by `diprl reproduce (.+)`\.$", re.MULTILINE)
PAGES = {
    str(path.parent.relative_to(ROOT)): path
    for path in sorted(ROOT.glob("results/*/README.md"))
    if COMMAND.search(path.read_text(encoding="utf-8"))
}


@cache
def records_in(folder: Path) -> dict[str, Record]:
    return Store(folder).read()


def test_every_experiment_has_a_page() -> None:
    folders = {str(page.folder) for suite in SUITES.values() for page in pages(suite, Request(preset="both"), {})}
    assert PAGES.keys() <= folders, "one command makes every page: diprl reproduce all --preset both --executor none"
    assert {str(page.folder) for suite in SUITES.values() for page in pages(suite, Request(), {})} <= PAGES.keys()
    folders = {f"results/{path.parent.name}" for path in ROOT.glob("results/*/*.tex")}
    assert folders <= PAGES.keys()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_its_command_makes_of_the_records(name: str) -> None:
    text = PAGES[name].read_text(encoding="utf-8")
    (arguments,) = COMMAND.findall(text)
    request = parse(Reproduce, "reproduce", shlex.split(arguments))
    (page,) = pages(SUITES[request.experiment], request, records_in(ROOT / request.folder))
    assert str(page.folder) == name
    assert page_text(page, FIGURES[page.suite.name]) == text

"""The committed pages: each is, word for word, what the command on it makes of the committed records."""

import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from diprl.cli.options import parse
from diprl.cli.reproduce import Reproduce
from diprl.experiment.figures import figures_of
from diprl.experiment.records import Record, Store
from diprl.experiment.reproduce import page
from diprl.experiment.results import results_of
from diprl.experiment.suites import SUITES

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"^Made by `diprl reproduce (.+)`\.$", re.MULTILINE)
PAGES = {
    str(path.parent.relative_to(ROOT)): path
    for pattern in ("results/*/README.md", "results/more-seeds/*/README.md")
    for path in sorted(ROOT.glob(pattern))
    if COMMAND.search(path.read_text(encoding="utf-8"))
}


@cache
def records_in(folder: Path) -> dict[str, Record]:
    return Store(folder).read()


def test_every_experiment_has_a_page() -> None:
    assert {f"results/{name}-default" for name in SUITES} | {"results/more-seeds/discrete-default"} <= PAGES.keys()
    folders = {f"results/{path.parent.name}" for path in ROOT.glob("results/*/*.tex")}
    assert folders <= PAGES.keys()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_its_command_makes_of_the_records(name: str) -> None:
    text = PAGES[name].read_text(encoding="utf-8")
    (arguments,) = COMMAND.findall(text)
    request = parse(Reproduce, "reproduce", shlex.split(arguments))
    suite = SUITES[request.experiment]
    assert str(request.folder / "-".join([suite.name, *request.presets])) == name
    results = results_of(suite.runs(request), records_in(ROOT / request.folder))
    assert page(suite, results, request, figures_of(suite.name, results)) == text

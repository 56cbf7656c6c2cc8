"""A run folder from anybody: whatever its files say, no script but the page's own runs."""

import base64
import json
import re
from collections.abc import Iterator
from copy import deepcopy
from html import escape
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from diprl.errors import DiprlError
from diprl.program import Act, Condition, Discrete, Feature, If, Program, Signature
from diprl.report import write_report
from diprl.report.charts import score_chart
from diprl.report.source import VERIFICATION, read_report, read_source
from diprl.runs import folder as runs
from tests.report.browser import browse, needs_browser
from tests.report.chromium import Chromium
from tests.report.run_folders import CLUMSY, header, metrics, result, write_run

ATTACK = "document.documentElement.dataset.owned='yes'"
HOSTILE = (
    f"<script>{ATTACK}</script>",
    f'"><img src=x onerror="{ATTACK}">',
    f"</script></style><script>{ATTACK}</script>",
    f"'><svg onload={ATTACK}>",
    "{{7*7}}{% for x in y %}",
    "javascript:alert(1)",
)
EVERYTHING = " ".join(HOSTILE)
EXTRA = {"is_success": 0.5, "distance": 1.0}
ANSWER = {
    "verdict": "refuted",
    "summary": "it can happen",
    "details": ["a detail"],
    "witness": {"states": [["state", [["pole_angle", 0.25]]]], "replays": ["left"]},
    "assumptions": ["the model"],
}
PROOFS = {
    "proved": False,
    "findings": [{"name": "never left", "kind": "never", "answer": ANSWER, "seconds": 0.1}],
    "assumptions": ["real arithmetic"],
}
FILES = {
    runs.RESULT: result(0, 480.0) | {"score": result(0, 480.0)["score"] | EXTRA},
    runs.CONFIG: header(0) | {"env_kwargs": {EVERYTHING: True}},
    VERIFICATION: PROOFS,
}
Place = tuple[str | int, ...]


def places(content: Any, above: Place = ()) -> Iterator[Place]:
    """Where every value of a JSON document stands, containers included."""
    if above:
        yield above
    if isinstance(content, dict | list):
        for key, value in content.items() if isinstance(content, dict) else enumerate(content):
            yield from places(value, (*above, key))


def value_at(content: Any, place: Place) -> Any:
    for key in place:
        content = content[key]
    return content


def changed(content: Any, place: Place, value: Any) -> Any:
    copy = deepcopy(content)
    value_at(copy, place[:-1])[place[-1]] = value
    return copy


def accepts(folder: Path, name: str, content: Any) -> bool:
    """Whether a run folder with this file can be shown; if not, it must be refused with a `DiprlError`."""
    (folder / name).write_text(json.dumps(content))
    try:
        source = read_source(folder)
        str(read_report(source.verification or PROOFS))
    except DiprlError:
        return False
    score_chart(source, None)
    return True


def hostile_program() -> Program:
    features = tuple(Feature(f"x{index}", unit=hostile, meaning=hostile) for index, hostile in enumerate(HOSTILE[:4]))
    root = If(Condition((0.0, 0.0, 3.0, 1.0), 0.0), Act(0), Act(1))
    return Program(Signature(features, Discrete(("right", "left"))), root, EVERYTHING)


def hostile_run(folder: Path) -> Path:
    """A run in whose files everything is hostile that does not make them be refused."""
    write_run(folder, program=hostile_program())
    for name, content in FILES.items():
        (folder / name).write_text(json.dumps(content))
    for name, content in FILES.items():
        worst = content
        for place in places(content):
            attempt = changed(worst, place, EVERYTHING)
            if not isinstance(value_at(content, place), dict | list) and accepts(folder, name, attempt):
                worst = attempt
        assert worst != content
        (folder / name).write_text(json.dumps(worst | {EVERYTHING: EVERYTHING}))
    rows = [metrics(1000) | {EVERYTHING: 1.0}, metrics(2000), {EVERYTHING: EVERYTHING}]
    (folder / runs.METRICS_JSONL).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = hostile_run(tmp_path_factory.mktemp("runs") / "run")
    return write_report(folder, task="CartPole-v1", episodes=1)


class Elements(HTMLParser):
    """Collects what could run: scripts, handlers, addresses and foreign elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts = 0
        self.handlers: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.handlers += [name for name, _ in attrs if name.startswith("on") or name == "style"]
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]


def test_every_value_is_text(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = Elements(text)
    assert found.scripts == 2  # the data of the episode, and the page's own script
    assert found.handlers == []
    allowed = ("data:image/", "data:text/plain", "data:,", "#")
    assert [link for link in found.links if not link.startswith(allowed)] == []
    assert escape(HOSTILE[0]) in text
    assert "{{7*7}}" in text


@pytest.mark.parametrize("value", [EVERYTHING, None, True, [], {}, [[1]], -1, 1e308, float("nan"), float("-inf")])
@pytest.mark.parametrize("name", FILES)
def test_every_field_is_shown_or_refused(name: str, value: Any, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    for place in places(FILES[name]):
        accepts(folder, name, changed(FILES[name], place, value))


def test_hostile_names_are_refused_by_the_program(tmp_path: Path) -> None:
    text = hostile_program().to_json()
    for name in ("x0", "right"):
        (tmp_path / "program.json").write_text(text.replace(f'"{name}"', json.dumps(HOSTILE[1])))
        with pytest.raises(DiprlError, match="is not an identifier"):
            write_report(tmp_path / "program.json")


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    folder, victim = write_run(tmp_path / "run", program=CLUMSY), tmp_path / "victim"
    victim.write_text("mine, not diprl's")
    (folder / "report.html").symlink_to(victim)
    page = write_report(folder, episodes=1)
    assert victim.read_text() == "mine, not diprl's"
    assert not page.is_symlink()
    assert [path.name for path in folder.iterdir() if "partial" in path.name] == []


def test_scripts_never_turn_text_into_markup_or_code() -> None:
    folder = files("diprl.report") / "assets"
    scripts = [path for part in ("page", "twins") for path in (folder / part).iterdir()]
    assert len(scripts) > 15
    parsing = re.compile(r"(inner|outer)HTML|insertAdjacent|document\.write|srcdoc|\beval\(|new Function|\bimport\(")
    for path in scripts:
        assert parsing.search(path.read_text(encoding="utf-8")) is None, path


@needs_browser
def test_a_link_from_anybody_is_read_as_a_program_only(page: Path, tmp_path: Path) -> None:
    with Chromium(tmp_path / "profile") as browser:
        for text in (*HOSTILE, f"right # {HOSTILE[0]}", f"task: {json.dumps(HOSTILE[0])}\nright"):
            packed = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
            browser.open(f"{page.as_uri()}#edit={packed}")
            assert browser.run("document.documentElement.dataset.owned") is None
            assert browser.complaints == []


@needs_browser
def test_no_script_but_the_pages_own_runs(page: Path, tmp_path: Path) -> None:
    document, complaints = browse(page, tmp_path / "profile")
    assert 'data-ready="yes"' in document
    assert "data-owned" not in document
    assert complaints == []


@needs_browser
@pytest.mark.parametrize("guarded", [True, False])
def test_the_policy_stops_a_script_that_escaping_missed(page: Path, guarded: bool, tmp_path: Path) -> None:
    """Without the policy the same script runs, so the test above can see one that does."""
    text = page.read_text(encoding="utf-8").replace("<main>", f"<main>{HOSTILE[0]}")
    changed_page = tmp_path / "page.html"
    changed_page.write_text(text if guarded else text.replace("Content-Security-Policy", "x"), encoding="utf-8")
    document, complaints = browse(changed_page, tmp_path / "profile")
    assert ('data-owned="yes"' in document) == (not guarded)
    assert any("Content Security Policy" in line for line in complaints) == guarded

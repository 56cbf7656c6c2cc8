"""The page as a whole: what it says, that it is one file, and that a browser has nothing to complain about."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from diprl.errors import DiprlError
from diprl.program import parse
from diprl.report import write_report
from diprl.report.source import VERIFICATION, read_source
from diprl.system.files import write_json
from tests.report.browser import browse, needs_browser
from tests.report.run_folders import CLUMSY, PROGRAM, result, write_run


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    parent = tmp_path_factory.mktemp("runs")
    write_run(parent / "other", seed=1, mean=450.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("diprl.report.episode.MOST_STEPS", 90)
        patch.setattr("diprl.report.episode.MOST_PICTURES", 30)
        patch.setattr("diprl.report.page.TWINS", ())  # so that pictures are needed
        return write_report(write_run(parent / "this"), episodes=2)


class Links(HTMLParser):
    """Collects every address that a browser would follow or load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action")]


def test_everything_is_inside(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = Links()
    links.feed(text)
    assert len(links.found) > 10
    assert [link for link in links.found if not link.startswith(("data:", "#"))] == []
    assert "@import" not in text
    assert re.search(r"url\(", text) is None


def test_says_what_the_run_says(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<h1>CartPole-v1</h1>" in text
    assert "480.00" in text
    assert "470.95 to 489.05" in text
    assert "seed 1, mean" in text  # the sibling run
    assert "- 0.0123456789 &gt; 0:" in text  # the exact number, for readers without JavaScript
    for title in ("Return", "Gap: relaxed − program", "Depth of the program", "Architecture entropy", "α, the"):
        assert title in text
    assert "all 3 branches are reached" in text
    assert "diprl train CartPole-v1 --seed 0 --out &#39;a folder&#39;" in text
    assert "play: agrees on 3200 observations" in text
    assert text.count("data:image/webp;base64,") == 30 + 1  # every third step, and the one shown at first


def test_verification_of_the_folder_is_shown(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", program=CLUMSY)
    answer = {
        "verdict": "refuted",
        "summary": "it <can> happen",
        "details": [],
        "witness": {"states": [["state", [["pole_angle", 0.25]]]], "replays": ["left"]},
        "assumptions": ["the model"],
    }
    found = {"name": "never left", "kind": "never", "answer": answer, "seconds": 0.1}
    write_json(folder / VERIFICATION, {"proved": False, "findings": [found], "assumptions": ["real arithmetic"]})
    text = write_report(folder, features="pole_angle", episodes=1).read_text(encoding="utf-8")
    assert '<span class="verdict refuted">refuted</span> <strong>never left</strong>' in text
    assert "it &lt;can&gt; happen" in text
    assert "state: pole_angle = 0.25" in text
    assert "The line of <var>pole_angle</var>" in text


def test_a_branch_that_is_never_reached_is_no_alarm(tmp_path: Path) -> None:
    pytest.importorskip("z3")
    program = parse("features: x\nactions: a, b\n\nif x > 1:\n    a\nelif x > 2:\n    a\nelse:\n    b\n")
    program.save(tmp_path / "own.txt")
    text = write_report(tmp_path / "own.txt").read_text(encoding="utf-8")
    assert '<span class="verdict unknown">could be shorter</span> <strong>every branch can be reached</strong>' in text
    assert ">refuted<" not in text


def test_a_program_that_cannot_be_played_still_has_a_page(tmp_path: Path) -> None:
    program = parse(
        'features: x: "<script>alert(1)</script>"\nactions: stay, go\n\nif x > 0.5:\n    go\nelse:\n    stay\n'
    )
    program.save(tmp_path / "own.txt")
    page = write_report(tmp_path / "own.txt")
    text = page.read_text(encoding="utf-8")
    assert page == tmp_path / "own.html"
    assert "does not say which environment it is for" in text
    assert "alert(1)</script>" not in text.replace("&lt;script&gt;alert(1)&lt;/script&gt;", "")


def test_bad_requests_are_refused_before_anything_is_played(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    with pytest.raises(DiprlError, match="did you mean pole_angle"):
        write_report(folder, features="pole_angel")
    with pytest.raises(DiprlError, match="one or two"):
        write_report(folder, features="pole_angle,pole_angle")
    (folder / "program.json").unlink()
    with pytest.raises(DiprlError, match="holds no program"):
        write_report(folder)


def test_only_the_same_experiment_counts_as_a_sibling(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "this")
    write_run(tmp_path / "seed", seed=4)
    write_run(tmp_path / "copy")
    changed = write_run(tmp_path / "changed", seed=5)
    other = result(5, 480.0)
    write_json(changed / "result.json", other | {"settings": other["settings"] | {"max_depth": 4}})
    damaged = write_run(tmp_path / "damaged", seed=6)
    (damaged / "result.json").write_text('{"seed":')
    (write_run(tmp_path / "unfinished", seed=7) / "result.json").unlink()
    assert [sibling.spec.seed for sibling in read_source(folder).siblings] == [4]
    assert read_source(folder).program == PROGRAM


@needs_browser
def test_a_browser_is_content(page: Path, tmp_path: Path) -> None:
    document, complaints = browse(page, tmp_path / "profile")
    assert 'data-ready="yes"' in document
    assert 'id="total">0<' in document  # the script has shown the first step
    assert complaints == []


@needs_browser
def test_the_browser_check_sees_a_request(page: Path, tmp_path: Path) -> None:
    """The page forbids requests, so that one would be a complaint; otherwise the test above proves nothing."""
    changed = tmp_path / "page.html"
    text = page.read_text(encoding="utf-8")
    changed.write_text(text.replace("<main>", '<main><img src="http://127.0.0.1:9/x.png">'), encoding="utf-8")
    _, complaints = browse(changed, tmp_path / "profile")
    assert any("Content Security Policy" in line for line in complaints)

"""The studio as a program asks it and as a person uses it: on LunarLander and on an environment of one's own."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from diprl.errors import DiprlError
from diprl.program import Program, parse
from diprl.report.source import read_source
from diprl.report.studio import Studio, open_studio
from diprl.report.studio.bench import Job
from tests.report.browser import needs_browser
from tests.report.chromium import Chromium
from tests.report.run_folders import write_run

LANDER = Path(__file__).parents[3] / "results" / "improved" / "LunarLander-v3-seed123-simplified.txt"
OWN_TASK = "tests.report.studio.own:studio/Tank-v0"
TANK = """task: studio/Tank-v0
features: level in [0, 2]
actions: close, open

if level > 1.4:
    open
else:
    close
"""


def serve(studio: Studio) -> Iterator[Studio]:
    thread = Thread(target=studio.serve_forever, daemon=True)
    thread.start()
    yield studio
    studio.shutdown()
    studio.server_close()


@pytest.fixture(scope="module")
def lander(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("runs")
    (folder / "lander.txt").write_text(LANDER.read_text())
    yield from serve(open_studio([folder / "lander.txt"]))


@pytest.fixture(scope="module")
def tank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("runs")
    (folder / "tank.txt").write_text(TANK)
    yield from serve(open_studio([folder / "tank.txt"], task=OWN_TASK))


def request(studio: Studio, method: str, path: str, content: Any = None, **headers: str) -> tuple[int, Any]:
    """The status and the answer; headers replace those that the page would send."""
    connection = http.client.HTTPConnection("127.0.0.1", studio.server_port, timeout=120)
    sent = {"X-Diprl-Token": studio.token} | {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, json.dumps(content) if content is not None else None, sent)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, json.loads(text) if answer.headers["Content-Type"] == "application/json" else text


def events(studio: Studio, job: int) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = [{}]
    while not told[-1].get("done"):
        told.append(request(studio, "POST", "/told", {"job": job})[1])
    return told[1:]


@pytest.mark.parametrize(
    "headers",
    [
        {"X_Diprl_Token": "guess"},
        {"X_Diprl_Token": ""},
        {"Origin": "https://example.org"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Host": "example.org"},
        {"Host": "127.0.0.1"},
    ],
)
@pytest.mark.parametrize("path", ["/score", "/job", "/told", "/save", "/stop"])
def test_strangers_are_refused(tank: Studio, headers: dict[str, str], path: str) -> None:
    before = sorted(tank.benches[0].path.parent.iterdir())
    status, answer = request(
        tank, "POST", path, {"text": TANK, "episodes": 2, "kind": "polish", "amount": 1}, **headers
    )
    assert status == 403
    assert set(answer) == {"error"}
    assert sorted(tank.benches[0].path.parent.iterdir()) == before
    assert tank.jobs == [] or all(not job.running for job in tank.jobs)


@pytest.mark.parametrize("path", ["/", "/?token=guess", "/?run=0"])
def test_pages_need_the_token(tank: Studio, path: str) -> None:
    assert request(tank, "GET", path)[0] == 403


def test_the_page_of_this_machine_is_answered(tank: Studio) -> None:
    origin = f"http://127.0.0.1:{tank.server_port}"
    status, answer = request(tank, "POST", "/score", {"text": TANK, "episodes": 3}, Origin=origin)
    assert status == 200
    assert answer["returns"] == [50.0, 50.0, 50.0]
    assert request(tank, "GET", "/nowhere?token=" + tank.token)[0] == 404


@pytest.mark.parametrize(
    ("path", "content", "words"),
    [
        ("/score", {"text": TANK, "episodes": 0}, "episodes must be a number from 1"),
        ("/score", {"text": TANK, "episodes": "many"}, "episodes must be a number"),
        ("/score", {"text": "if leval > 1: open\nelse: close", "episodes": 2}, "did you mean level"),
        ("/score", {"text": TANK.replace("level", "other"), "episodes": 2}, "header differs"),
        ("/score", {"run": 4, "text": TANK, "episodes": 2}, "there is no run 4"),
        ("/job", {"text": TANK, "kind": "polsh"}, "did you mean polish"),
        ("/score", {}, "bad request"),
        ("/score", [1], "must be a JSON object"),
    ],
)
def test_mistakes_are_told_in_one_sentence(tank: Studio, path: str, content: Any, words: str) -> None:
    status, answer = request(tank, "POST", path, content)
    assert status == 400
    assert words in answer["error"]


def test_an_edit_of_ones_own_environment_is_polished_and_saved(tank: Studio) -> None:
    folder = tank.benches[0].path.parent
    bad = TANK.replace("1.4", "0.51")
    _, answer = request(tank, "POST", "/job", {"kind": "polish", "text": bad, "amount": 2})
    told = events(tank, answer["job"])
    shares = [message["share"] for message in told if not message.get("done")]
    assert shares == sorted(shares)
    assert 0 < shares[0] < 0.3
    better = parse(told[-1]["text"])
    assert "better" in told[-1]["words"]
    assert len(list(folder.iterdir())) == 1  # nothing was written
    status, saved = request(tank, "POST", "/save", {"text": str(better)})
    assert status == 200
    assert "saved as" in saved["words"]
    source = read_source(folder / "tank-edited")
    assert source.program == better
    assert source.result is not None
    assert source.result.score.mean > 30


def test_jobs_are_stopped_and_never_two_at_a_time(tank: Studio) -> None:
    _, first = request(tank, "POST", "/job", {"kind": "polish", "text": TANK, "amount": 60})
    status, second = request(tank, "POST", "/job", {"kind": "prove", "text": TANK})
    assert status == 400
    assert "another job is running" in second["error"]
    request(tank, "POST", "/stop", {"job": first["job"]})
    assert events(tank, first["job"])[-1] == {"done": True, "words": "stopped; nothing was changed"}


def test_something_is_proved(tank: Studio) -> None:
    pytest.importorskip("z3")
    _, answer = request(tank, "POST", "/job", {"kind": "prove", "text": TANK})
    last = events(tank, answer["job"])[-1]
    assert last["words"] == "1 of 1 proved"
    assert last["findings"][0][:2] == ["proved", "every branch can be reached"]


def test_a_job_that_fails_says_so() -> None:
    def work(_: Job) -> dict[str, Any]:
        raise RuntimeError("no")

    assert Job("polish", work).start().told() == {"done": True, "error": "polish failed: RuntimeError: no"}


def test_runs_stand_side_by_side(tmp_path: Path) -> None:
    folders = [write_run(tmp_path / "one"), write_run(tmp_path / "two", seed=1, mean=450.0)]
    studio = open_studio(folders)
    page = studio.page(1)
    studio.server_close()
    assert f"?token={studio.token}&amp;run=0" in page
    assert "450.00" in page
    assert page.count('class="line s') >= 2  # the fronts
    assert "connect-src &#39;self&#39;" in page


def test_a_wrong_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DiprlError, match=r"no program|no run"):
        open_studio([tmp_path])


@needs_browser
def test_a_lander_is_edited_scored_polished_and_saved(lander: Studio, tmp_path: Path) -> None:
    folder = lander.benches[0].path.parent
    scored = "document.querySelector('#board:not(.busy) .change:not(:empty)')"
    with Chromium(tmp_path / "profile") as browser:
        browser.open(lander.address)
        browser.wait(scored, 60)
        browser.click("#listing select")
        browser.run(
            "(() => { const list = document.querySelector('#listing select'); list.value = '0';"
            "list.dispatchEvent(new Event('change')); })()"
        )
        browser.wait("document.querySelector('#board:not(.busy) .change.worse')", 60)
        assert [path.name for path in folder.iterdir()] == ["lander.txt"]
        browser.run("document.querySelector('#polish-amount').value = 3")
        browser.click("[data-job=polish]")
        browser.wait("!document.querySelector('#job').hidden && document.querySelector('#progress').value > 0.2")
        browser.wait("document.querySelector('#job').hidden", 90)
        assert "on fresh episodes" in browser.run("document.querySelector('#said').textContent")
        browser.click("#save")
        browser.wait("document.querySelector('#said').textContent.startsWith('saved as')", 120)
        assert Program.load(folder / "lander-edited" / "program.json").task == "LunarLander-v3"
        assert browser.complaints == []
        own = lander.address.split("?")[0]
        assert [request for request in browser.requests if not request.startswith((own, "data:"))] == []


def test_the_studio_ends_with_its_terminal(tmp_path: Path) -> None:
    (tmp_path / "tank.txt").write_text(TANK)
    command = [sys.executable, "-m", "diprl", "studio", str(tmp_path / "tank.txt"), "--no-browser", "--task", OWN_TASK]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("studio at http://127.0.0.1:")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130
    assert [path.name for path in tmp_path.iterdir()] == ["tank.txt"]

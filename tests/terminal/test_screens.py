"""Screens of 80 and 120 columns: every line fits, no word and no number is broken, and something moves at once."""

import re
from functools import cache
from pathlib import Path
from subprocess import run
from sys import executable

import pytest

from tests.cli.scene import write_scene
from tests.search.programs import WORDY
from tests.terminal.screens import Screen, capture

pytest.importorskip("fcntl")

TRAIN = (
    "train CartPole-v1 --num-envs 8 --num-steps 16 --minibatch-size 64 --hidden-size 8 --max-depth 3 "
    "--total-timesteps 2e3 --episodes 6 --seeds 7,8"
)
COMMANDS = {
    "train": TRAIN,
    "network": "train CartPole-v1 --method ppo --num-envs 8 --num-steps 16 --minibatch-size 64 --total-timesteps 2e3",
    "tasks": "tasks",
    "doctor": "doctor",
    "simplify": "simplify wordy.txt --episodes 5",
    "polish": "polish wordy.txt --seconds 1 --episodes 5",
    "runs": "runs",
    "compare": "compare runs/a p.txt wordy.txt --episodes 3",
    "show": "show wordy.txt",
    "explain": "explain wordy.txt",
    "mistake": "eval runs/half",
    "verify": "verify p.txt never.yaml",
}
WIDTHS = (80, 120)
VARYING = re.compile(r"[\d:.,()]+s?|self-test|s")
"""Words that differ from one time to the next: seconds and what is measured in them."""


@pytest.fixture(scope="module")
def screens(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Takes a screen of a command once."""

    @cache
    def take(name: str, width: int) -> Screen:
        folder = write_scene(tmp_path_factory.mktemp(name))
        WORDY.save(folder / "wordy.txt")
        (folder / "simplified.json").unlink()
        (folder / "never.yaml").write_text("properties:\n  - {kind: never, action: left}\n")
        return capture(COMMANDS[name].split(), width, folder)

    return take


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_line_fits(screens, name: str, width: int) -> None:
    screen = screens(name, width)
    assert screen.code == {"mistake": 2, "verify": 1}.get(name, 0), screen.text
    for text in (*screen.frames, screen.text):
        too_long = [line for line in text.splitlines() if len(line) > width]
        assert too_long == []


@pytest.mark.parametrize("name", COMMANDS)
def test_no_word_and_no_number_is_broken(screens, name: str) -> None:
    narrow, wide = (screens(name, width) for width in WIDTHS)
    broken = {word for word in narrow.words - wide.words if not VARYING.fullmatch(word)}
    assert {word.strip("─") for word in broken} <= wide.words | {"", "run", "program"}  # names of stacked columns
    for screen in (narrow, wide):
        assert not re.search(r"\d…|…\d|\d\.$", screen.text, re.MULTILINE)


@pytest.mark.parametrize("width", WIDTHS)
def test_training_shows_seed_bar_and_time_left(screens, width: int) -> None:
    screen = screens("train", width)
    moving = "\n".join(screen.frames)
    assert "CartPole-v1: compiling …" in moving
    for seed in (7, 8):
        assert re.search(rf"seed {seed} [━╸╺]+ +\d+% [\d:-]+ program -?\d+\.\d\d", moving)
    assert ("steps/s" in moving) == (width == 120)
    assert "2 seeds" in screen.text
    assert re.search(r"mean +\d+\.\d\d \(95% interval", screen.text)


def test_a_network_is_called_one(screens) -> None:
    screen = screens("network", 80)
    assert re.search(r"seed 0 [━╸╺]+ +\d+% [\d:-]+ network \d+\.\d\d", "\n".join(screen.frames))
    assert "network  two hidden layers of 64 units" in screen.text
    assert not re.search(r"\bprogram (-?\d|…)", screen.text)


def test_wide_tables_keep_paths_beside_and_narrow_ones_put_them_below(screens) -> None:
    assert re.search(r"^runs/a +CartPole-v1 +diprl +0 +480\.00 +2 +\d+ +finished$", screens("runs", 120).text, re.M)
    assert "resume with: diprl train --resume runs/half" in screens("runs", 80).text.replace("\n    ", " ")
    assert "broken" in screens("runs", 80).text


def test_show_rounds_in_a_terminal_and_nowhere_else(tmp_path: Path) -> None:
    folder = write_scene(tmp_path / "scene")
    WORDY.save(folder / "plain.txt")
    (folder / "long.txt").write_text(str(WORDY).replace("3*pole_angle", "3.14159265*pole_angle"))
    assert "rounded" not in capture(["show", "plain.txt"], 80, folder).text
    rounded = capture(["show", "long.txt"], 80, folder).text
    assert "3.14*pole_angle" in rounded
    assert "--exact" in rounded
    assert "3.14159265*pole_angle" in capture(["show", "long.txt", "--exact"], 80, folder).text
    piped = run([executable, "-m", "diprl", "show", "long.txt"], cwd=folder, capture_output=True, text=True, check=True)
    assert "3.14159265*pole_angle" in piped.stdout


def test_a_path_stays_in_one_piece(tmp_path: Path) -> None:
    folder = write_scene(tmp_path / "scene")
    long = "a-rather-long-name-of-a-folder-for-runs"
    (folder / "runs").rename(folder / long)
    text = capture(["runs", long], 80, folder).text
    assert f"{long}/a\n" in text
    assert "  run  " in text

"""The commands that change programs, from the command line."""

import json

import pytest

from diprl.cli.main import main
from diprl.program import Program
from tests.search.programs import BALANCING, FALLING, WORDY


def run(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    return stopped.value.code, capsys.readouterr()


def test_polish_writes_the_better_program(tmp_path, capsys):
    FALLING.save(tmp_path / "p.json")
    options = ["--steps", "4e6", "--episodes", "20", "--json"]
    code, output = run(["polish", str(tmp_path / "p.json"), *options], capsys)
    summary = json.loads(output.out)
    assert code == 0
    assert summary["accepted"]
    assert summary["after"]["mean"] > summary["before"]["mean"]
    assert str(Program.load(tmp_path / "polished.json")) == summary["program"]


def test_simplify_prints_before_after_and_sizes(tmp_path, capsys):
    WORDY.save(tmp_path / "p.json")
    code, output = run(["simplify", str(tmp_path / "p.json"), "--episodes", "10", "--json"], capsys)
    summary = json.loads(output.out)
    assert code == 0
    assert summary["coefficients"][1] <= summary["coefficients"][0] / 2
    assert "before" in output.err
    assert "drop" in output.err


def test_edit_takes_a_text_and_tells_the_difference(tmp_path, capsys):
    BALANCING.save(tmp_path / "p.txt")
    (tmp_path / "edited.txt").write_text("if pole_angle > 0:\n    right\nelse:\n    left\n")
    options = ["--with-text", str(tmp_path / "edited.txt"), "--episodes", "5", "--json"]
    code, output = run(["edit", str(tmp_path / "p.txt"), *options], capsys)
    summary = json.loads(output.out)
    assert code == 0
    assert summary["changed"] > 0
    assert summary["gain"]["mean"] < 0
    assert "for example at" in output.err


def test_edit_opens_the_editor(tmp_path, capsys, monkeypatch):
    BALANCING.save(tmp_path / "p.txt")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "sed -i 's/3[*]pole/4*pole/'")
    code, output = run(["edit", str(tmp_path / "p.txt"), "--episodes", "2"], capsys)
    assert code == 0
    assert "4*pole_angle" in output.out


def test_a_mistake_in_the_edit_says_where(tmp_path, capsys):
    BALANCING.save(tmp_path / "p.txt")
    (tmp_path / "edited.txt").write_text("if pole_angel > 0:\n    right\nelse:\n    left\n")
    code, output = run(["edit", str(tmp_path / "p.txt"), "--with-text", str(tmp_path / "edited.txt")], capsys)
    assert code == 2
    assert "pole_angle" in output.err
    assert "line 1" in output.err

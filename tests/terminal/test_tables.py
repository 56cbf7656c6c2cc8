"""What is printed at the end of a command: paths and names as they are, whatever they look like."""

from pathlib import Path

import pytest

from diprl.arena.score import Score
from diprl.program import Program
from diprl.runs.result import Result
from diprl.runs.spec import RunSpec
from diprl.terminal.printing import print_findings, print_result, print_tasks, result_table
from diprl.terminal.progress import Display

NAME = "a[red]b[/red]:smile:[/]"
PROGRAM = Program.from_text("features: x\nactions: no, yes\nif x > 0: yes\nelse: no")
RESULT = Result(RunSpec(NAME), PROGRAM, Score((1.0, 2.0)), {"training": 10})


def test_a_name_is_never_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_result(RESULT, Path(NAME) / "run")
    printed = capsys.readouterr().out
    assert f"{NAME}, seed 0" in printed
    assert f"files    {NAME}/run\n" in printed
    assert f"DiPRL on {NAME}, seed 0" in result_table(RESULT, "DiPRL")


def test_a_long_path_stays_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path("/".join(["a long folder name"] * 12))
    print_result(RESULT, folder)
    assert f"files    {folder}\n" in capsys.readouterr().out


def test_messages_of_others_are_never_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_tasks([{"task": "T", "missing": "pip install 'diprl[mujoco]'"}])
    print_findings(
        {
            "diprl": "1",
            "python": "3",
            "devices": ["cpu"],
            "packages": {"ray": "not installed: pip install 'diprl[cluster]'"},
            "tasks": {},
            "self_test": {"passed": True, "seconds": 1.0},
        }
    )
    printed = capsys.readouterr().out
    assert "diprl[mujoco]" in printed
    assert "diprl[cluster]" in printed


def test_the_display_prints_brackets_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    Display().console.print(NAME)
    assert capsys.readouterr().err == f"{NAME}\n"

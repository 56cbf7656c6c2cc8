"""What is printed at the end of a command: paths and names as they are, whatever they look like."""

from pathlib import Path

import pytest

from diprl.arena.score import Score
from diprl.program import Program
from diprl.runs.result import Result
from diprl.runs.spec import RunSpec
from diprl.terminal.layout import Column, plain_console, print_table
from diprl.terminal.printing import TASKS, print_findings, print_result, result_table
from diprl.terminal.progress import Display
from tests.cli.scene import write_scene

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
    print_table(TASKS, [{"task": "T", "missing": "pip install 'diprl[mujoco]'"}])
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


ESCAPE = "run\x1b]0;title\x07\x1b[31m\u202e"
"""A name that sets the title of a window, turns red and writes backwards."""


def test_escape_sequences_are_shown_and_not_sent(tmp_path: Path, monkeypatch, capsys) -> None:
    from diprl.cli.main import main

    folder = write_scene(tmp_path / "scene")
    (folder / "runs").rename(folder / ESCAPE)
    monkeypatch.chdir(folder)
    printed = ""
    for arguments in (["runs", ESCAPE], ["eval", ESCAPE], ["show", f"{ESCAPE}/nothing"], ["train", ESCAPE]):
        with pytest.raises(SystemExit):
            main(arguments)
        printed += "".join(capsys.readouterr())
    print_result(RESULT, Path(ESCAPE))
    printed += capsys.readouterr().out
    assert r"run\x1b]0;title\x07\x1b[31m\u202e" in printed
    assert not set(printed) & {"\x1b", "\x07", "\u202e"}


def test_columns_that_do_not_fit_go_below(capsys: pytest.CaptureFixture[str]) -> None:
    columns = [Column("name", below=True, left=True), Column("a"), Column("b"), Column("c")]
    rows = [{"name": "a long name", "a": "1,000,000.00", "b": "2,000,000.00", "c": "3,000,000.00"}]
    for width, lines in ((80, 2), (45, 3), (30, 4)):
        console = plain_console(width=width)
        print_table(columns, rows, console)
        printed = capsys.readouterr().out
        assert len(printed.splitlines()) == lines
        assert all(cell in printed for cell in rows[0].values())
        assert max(map(len, printed.splitlines())) <= width

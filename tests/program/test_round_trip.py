"""Text and JSON read back as the same program."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diprl.program import Act, Condition, Discrete, Feature, If, Program, Signature, parse
from tests.program.strategies import programs

SIGNATURE = Signature((Feature("x", "m", -1.0, 1.0), Feature("y")), Discrete(("left", "right")))


@settings(max_examples=50)
@given(programs())
def test_text_round_trip(program: Program) -> None:
    assert parse(str(program)) == program
    assert str(parse(str(program))) == str(program)


@settings(max_examples=50)
@given(programs())
def test_json_round_trip(program: Program) -> None:
    assert Program.from_json(program.to_json()) == program
    assert Program.from_json(program.to_json()).to_json() == program.to_json()


@settings(max_examples=50)
@given(program=programs(), suffix=st.sampled_from([".json", ".txt", ""]))
def test_files_round_trip(program: Program, suffix: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("programs") / f"program{suffix}"
    program.save(path)
    assert Program.load(path) == program
    renamed = path.with_name("renamed.other")
    renamed.write_bytes(path.read_bytes())
    assert Program.load(renamed) == program


def test_printed_form() -> None:
    inner = If(Condition((0.0, -1.0), 0.25), Act(0), Act(1))
    program = Program(
        SIGNATURE, If(Condition((3.0, 1.0), 0.0), inner, If(Condition((0.0, 0.0), 0.5), Act(1), Act(0))), "T-v1"
    )
    assert str(program) == (
        "# diprl program 1\n"
        "task: T-v1\n"
        "features: x [m] in [-1.0, 1.0], y\n"
        "actions: left, right\n"
        "\n"
        "if 3*x + y > 0:\n"
        "    if -y + 0.25 > 0:\n"
        "        left\n"
        "    else:\n"
        "        right\n"
        "elif 0.5 > 0:\n"
        "    right\n"
        "else:\n"
        "    left\n"
    )


def test_long_chains_round_trip() -> None:
    root = Act(0)
    for number in range(5000):
        root = If(Condition((1.0, 0.0), float(number)), Act(1), root)
    program = Program(SIGNATURE, root)
    assert parse(str(program)) == program == Program.from_json(program.to_json())
    assert hash(program) == hash(parse(str(program)))
    assert program.act([-1e9, 0.0]) == program.act_batch([[-1e9, 0.0]])[0] == 0
    assert program.depth == 5001


def test_load_names_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"absent\.json: cannot be read"):
        Program.load(tmp_path / "absent.json")

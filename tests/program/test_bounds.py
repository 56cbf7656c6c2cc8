"""A short text cannot ask for a large program: what would not fit is refused before it is made."""

import json
import tracemalloc
from collections.abc import Callable

import pytest

from diprl.errors import DiprlError, ProgramError, listed, nearest, unknown, visible
from diprl.program import Program
from diprl.program.check import MAX_NAMES


def names(count: int, prefix: str = "x") -> str:
    return ", ".join(f"{prefix}{index}" for index in range(count))


def chain(conditions: int, condition: str = "x0 > 0") -> str:
    return "".join(f"{'elif' if index else 'if'} {condition}: n\n" for index in range(conditions)) + "else: n\n"


def as_json(features: int, conditions: int) -> str:
    nodes: list[object] = []
    for index in range(conditions):
        form = {"weights": {"x0": 1.0}, "bias": 0.0}
        nodes += [{"if": form, "then": 2 * index + 1, "else": 2 * index + 2}, {"act": "n"}]
    rows = [{"name": f"x{i}", "unit": "", "low": None, "high": None, "meaning": ""} for i in range(features)]
    actions = {"kind": "discrete", "names": ["n"]}
    return json.dumps({"schema": 1, "task": "", "features": rows, "actions": actions, "nodes": [*nodes, {"act": "n"}]})


LARGE: dict[str, tuple[Callable[[], str], str]] = {
    "features": (
        lambda: f"features: {names(40_000)}\nactions: n\n{chain(40_000)}",
        "40000 feature names are more than",
    ),
    "conditions": (lambda: f"features: {names(2000)}\nactions: n\n{chain(2000)}", "more than 1000000 numbers"),
    "JSON": (lambda: as_json(2000, 2000), "more than 1000000 numbers"),
    "outputs": (lambda: f"features: {names(2000)}\noutputs: {names(2000, 'u')}\nu0 = x0\n", "2000 outputs of 2000"),
    "actuators": (
        lambda: "features: x\nprimitives: f\nactuators: " + ", ".join(["9999 in [-1, 1]"] * 50_000) + "\nf\n",
        f"more than the {MAX_NAMES}",
    ),
    "factors": (lambda: "features: x\nactions: n\nif x" + "*2" * 400_000 + " > 0: n\nelse: n", "at most 40 factors"),
    "colons": (lambda: "features: x\nactions: n\n" + ":" * 900_000, "expected an action name"),
    "a name twice": (lambda: f"features: {names(9000)}, x5\nactions: n\nn", "'x5' is used twice"),
    "misspelt": (lambda: f"features: {names(9000)}\nactions: n\nif q > 0: n\nelse: n", "expected a feature name"),
}


@pytest.mark.parametrize("name", LARGE)
def test_what_would_not_fit_is_refused(name: str) -> None:
    make, reason = LARGE[name]
    text = make()
    tracemalloc.start()
    try:
        with pytest.raises(ProgramError, match=reason) as caught:
            Program.from_text(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 300_000_000
    assert len(str(caught.value)) < 1000


def test_a_program_may_be_large() -> None:
    program = Program.from_text(f"features: {names(90)}\nactions: n\n{chain(10_000)}")
    assert program.conditions == 10_000


@pytest.mark.parametrize("document", [{"x" * 100_000: 1}, {str(index): 1 for index in range(10_000)}])
def test_what_a_stranger_wrote_is_not_repeated_at_length(document: dict[str, int]) -> None:
    with pytest.raises(ProgramError, match="unknown keys") as caught:
        Program.from_json(json.dumps(document))
    assert len(str(caught.value)) < 4000


def test_near_names_and_lists_of_names_have_an_end() -> None:
    many = [f"name{index}" for index in range(100_000)]
    assert nearest("nam1", many) == ["name1"]
    assert listed(many, most=2) == "name0, name1, …"
    assert listed(["x" * 1000]) == "x" * 80
    error = unknown("thing", "q", many)
    assert isinstance(error, DiprlError)
    assert len(str(error)) < 1000


def test_what_would_steer_a_terminal_is_written_out() -> None:
    assert visible("a\x1b[2J\x07\nbé") == "a\\x1b[2J\\x07\nbé"
    assert str(unknown("task", "\x1b]0;owned\ud800", ["a"])) == "unknown task '\\x1b]0;owned\\ud800': known: a"
    with pytest.raises(ProgramError) as caught:
        Program.from_json(json.dumps({"\x1b[2J": 1}))
    assert "\x1b" not in str(caught.value)

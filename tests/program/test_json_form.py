"""JSON is read strictly: anything else than the documented form gives one clear error."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diprl.errors import ProgramError
from diprl.program import Program, parse

PROGRAM = parse("features: x [m] in [-1, inf]\nactions: no, yes\nif 2*x > 1: yes\nelse: no")
OUTPUTS = parse("features: x\noutputs: owner, value\nowner = x\nvalue = 1")
BLEND = parse("features: x\nprimitives: f, g\nactuators: [-1, 1]\n0.5*f + 0.5*g")


def changed(program: Program, path: list[Any], value: Any) -> str:
    """The program's JSON with one entry replaced, or removed when the value is ..."""
    document: Any = json.loads(program.to_json())
    place = document
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(document)


def test_form() -> None:
    document = json.loads(PROGRAM.to_json())
    assert document["features"] == [{"name": "x", "unit": "m", "low": -1.0, "high": None, "meaning": ""}]
    assert document["nodes"] == [
        {"if": {"weights": {"x": 2.0}, "bias": -1.0}, "then": 1, "else": 2},
        {"act": "yes"},
        {"act": "no"},
    ]


@pytest.mark.parametrize(
    ("program", "path", "value", "message"),
    [
        (PROGRAM, ["schema"], 2, "schema 2 is not known"),
        (PROGRAM, ["schema"], True, "'schema' of the document"),
        (PROGRAM, ["extra"], 1, "unknown keys"),
        (PROGRAM, ["task"], ..., "lacks the keys"),
        (PROGRAM, ["task"], 3, "'task' of the document"),
        (PROGRAM, ["features", 0], 3, "a feature must be an object"),
        (PROGRAM, ["features", 0, "low"], "x", "'low' of a feature"),
        (PROGRAM, ["features", 0, "name"], "two words", "not an identifier"),
        (PROGRAM, ["features", 0, "low"], float("inf"), "Infinity is not a finite number"),
        (PROGRAM, ["actions", "kind"], "other", "kind of actions"),
        (PROGRAM, ["actions", "names"], [], "at least one name"),
        (PROGRAM, ["actions", "names"], [[]], "not an identifier"),
        (PROGRAM, ["actions", "low"], [], "unknown keys"),
        (PROGRAM, ["nodes"], [], "do not form one tree"),
        (PROGRAM, ["nodes", 1], [], "a node must be one of"),
        (PROGRAM, ["nodes", 1, "act"], "maybe", "is not one of no, yes"),
        (PROGRAM, ["nodes", 1, "act"], [], "is not one of no, yes"),
        (PROGRAM, ["nodes", 0, "then"], 0, "refers to node 0"),
        (PROGRAM, ["nodes", 0, "then"], 2, "refers to node 2"),
        (PROGRAM, ["nodes", 0, "then"], 9, "refers to node 9"),
        (PROGRAM, ["nodes", 0, "else"], -1, "refers to node -1"),
        (PROGRAM, ["nodes", 0, "if", "bias"], None, "'bias' of the condition of node 0"),
        (PROGRAM, ["nodes", 0, "if", "bias"], float("nan"), "NaN is not a finite number"),
        (PROGRAM, ["nodes", 0, "if", "weights", "y"], 1.0, "keys among x"),
        (PROGRAM, ["nodes", 0, "if", "weights", "x"], "1", "must be a number"),
        (PROGRAM, ["nodes", 0, "if", "weights", "x"], 10**400, "too large"),
        (PROGRAM, ["nodes", 1], {"blend": {}}, "does not fit Discrete"),
        (OUTPUTS, ["nodes", 0, "affine", "owner"], ..., "lacks the keys"),
        (OUTPUTS, ["actions", "low"], [None], "1 low and 2 high bounds"),
        (OUTPUTS, ["actions", "units"], [1, 2], "units of outputs"),
        (BLEND, ["nodes", 0, "blend", "f"], -0.5, "non-negative"),
        (BLEND, ["nodes", 0, "blend"], 1, "weights of a blend"),
    ],
)
def test_every_deviation_is_named(program: Program, path: list[Any], value: Any, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        Program.from_json(changed(program, path, value))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", "[" * 200_000, '{"a":' * 200_000, '{"a": 1, "a": 1}', "9" * 5000, '{"schema": 1e999}']
)
def test_hostile_documents_give_one_error_with_the_file(text: str, tmp_path: Path) -> None:
    with pytest.raises(ProgramError):
        Program.from_json(text)
    path = tmp_path / "hostile.json"
    path.write_text(text)
    with pytest.raises(ProgramError, match=r"hostile\.json: "):
        Program.load(path)


def test_binary_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "binary"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ProgramError, match="is not text in UTF-8"):
        Program.load(path)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["if", "act", "x"]), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from([PROGRAM, OUTPUTS, BLEND]), values, st.data())
def test_random_damage_never_escapes(program: Program, value: Any, data: st.DataObject) -> None:
    document: Any = json.loads(program.to_json())
    place, path = document, []
    while isinstance(place, dict | list) and place and (not path or data.draw(st.booleans())):
        path.append(data.draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place))))))
        place = place[path[-1]]
    with suppress(ProgramError):
        Program.from_json(changed(program, path, value))

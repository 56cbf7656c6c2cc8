"""Formulas: what they compute, how they bind, and where an error says it is."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diprl.errors import DiprlError
from diprl.program.formula import ARGUMENTS, parse_formula, read_comparison, read_formula

NAMES = ["vx", "vy", "load"]
COLUMNS = np.array([[3.0, -0.5, 2.0], [4.0, 0.25, -1.0], [2.0, 8.0, 0.5]])


def value(text: str) -> Any:
    found = parse_formula(text, NAMES, "speed")(dict(zip(NAMES, COLUMNS, strict=True)))
    return np.broadcast_to(found, 3).tolist()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("sqrt(vx^2 + vy^2)", [5.0, math.hypot(-0.5, 0.25), math.hypot(2, 1)]),
        ("-vx^2", [-9.0, -0.25, -4.0]),
        ("2^-1 * load", [1.0, 4.0, 0.25]),
        ("2^3^2", [512.0] * 3),
        ("8 - 4 - 2", [2.0] * 3),
        ("8 / 4 / 2", [1.0] * 3),
        ("1 + 2 * 3 - 4 / 2", [5.0] * 3),
        ("-(-vx) - +vy", [-1.0, -0.75, 3.0]),
        ("atan2(vy, vx) * 180 / pi", np.degrees(np.arctan2(COLUMNS[1], COLUMNS[0])).tolist()),
        ("max(vx, min(vy, 0))", [3.0, 0.0, 2.0]),
        ("1e3", [1000.0] * 3),
    ],
)
def test_formulas_mean_what_they_mean_on_paper(text: str, wanted: list[float]) -> None:
    assert value(text) == pytest.approx(wanted)


def test_every_function_computes_what_its_name_says() -> None:
    by_name = {"abs": abs, "max": max, "min": min, "sign": lambda x: math.copysign(1.0, x), "atan2": math.atan2}
    by_name |= {"clip": lambda x, low, high: min(max(x, low), high), "wrap": lambda x, low, high: x - 1.2}
    for name, count in ARGUMENTS.items():
        if name == "where":
            continue
        arguments = (0.7, -0.9, 0.3)[:count] if count == 3 else (0.7, 0.3)[:count]
        wanted = by_name.get(name) or getattr(math, name)
        found = value(f"{name}({', '.join(map(str, arguments))})")
        assert found == pytest.approx([wanted(*arguments)] * 3)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 4) -> str:
    """A formula that Python reads alike, but for the sign of a power."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from([*NAMES, "2", "0.5", "3e-1"]))
    left, right = draw(expressions(depth=depth - 1)), draw(expressions(depth=depth - 1))
    form = draw(
        st.sampled_from(["{} + {}", "{} - {}", "{} * {}", "({}) / ({})", "-({}) + {}", "({} - {})", "({})^2 * {}"])
    )
    return form.format(left, right)


@given(expressions())
def test_formulas_bind_as_python_does(text: str) -> None:
    try:
        with np.errstate(all="ignore"):
            wanted = eval(text.replace("^", "**"), dict(zip(NAMES, COLUMNS, strict=True)))
    except ZeroDivisionError:  # Python's numbers, unlike arrays, refuse to divide by zero
        return
    np.testing.assert_allclose(value(text), np.broadcast_to(wanted, 3), rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sqrt(vz)", "the formula of speed, column 6: expected a number, a feature that stands above, .* found 'vz'"),
        ("2 * loda", r"column 5: .* \(did you mean load\?\)"),
        ("sqroot(vx)", r"column 1: .* \(did you mean sqrt\?\)"),
        ("vx +", "column 5: .* found the end of the line"),
        ("vx vy", "column 4: expected the end of the line, found 'vy'"),
        ("max(vx)", r"column 7: expected ',', found '\)'"),
        ("sqrt(vx, vy)", r"column 8: expected '\)', found ','"),
        ("(vx", r"expected '\)', found the end"),
        ("__import__('os')", "column 1: .* found '__import__'"),
        ("vx.real", "column 3"),
        ("(" * 200 + "vx" + ")" * 200, "a formula that nests less deeply"),
        ("1+" * 600 + "1", "longer than 1000 characters"),
        ("", "the end of the line"),
    ],
)
def test_errors_say_where(text: str, words: str) -> None:
    with pytest.raises(DiprlError, match=words):
        parse_formula(text, NAMES, "speed")


def test_long_sums_are_fine_and_formulas_travel_to_workers() -> None:
    formula = parse_formula("+".join(["vx"] * 300), NAMES, "sum")
    again = pickle.loads(pickle.dumps(formula))
    np.testing.assert_allclose(again({"vx": COLUMNS[0]}), 300 * COLUMNS[0])


def test_a_choice_depends_on_a_strict_comparison() -> None:
    assert value("where(vx > 2, vy, -1)") == [4.0, -1.0, -1.0]
    assert value("where(2 < vx, vy, -1)") == [4.0, -1.0, -1.0]
    with pytest.raises(DiprlError, match="column 7: expected a strict comparison"):
        parse_formula("where(vx >= 2, 1, 0)", NAMES, "speed")


@pytest.mark.parametrize(("text", "holds"), [("vx > 2", [1, 0, 0]), ("vx >= 2", [1, 0, 1]), ("2 < vx", [1, 0, 0])])
def test_comparisons_and_their_negation(text: str, holds: list[int]) -> None:
    comparison, values = read_comparison(text, NAMES), {"vx": COLUMNS[0]}
    assert comparison(values).tolist() == [bool(one) for one in holds]
    assert comparison.negated()(values).tolist() == [not one for one in holds]
    assert read_comparison(comparison.negated().text, NAMES)(values).tolist() == [not one for one in holds]


def test_errors_in_files_say_the_line() -> None:
    with pytest.raises(DiprlError, match=r"line 7, column 14: .* found the end of the line"):
        read_formula("vx +", NAMES, 7, 10)

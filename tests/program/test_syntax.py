"""Hand-written text: what is accepted, and how errors point at what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diprl.errors import ProgramError
from diprl.program import Act, Condition, Discrete, Feature, If, Program, ProgramSyntaxError, Signature, parse

SIGNATURE = Signature((Feature("pole_angle"), Feature("speed")), Discrete(("left", "right")))
OUTPUTS = "features: x\noutputs: a, b\n"


def condition(text: str) -> Condition:
    root = parse(f"if {text}:\n  left\nelse:\n  right", SIGNATURE).root
    assert isinstance(root, If)
    return root.condition


@pytest.mark.parametrize(
    ("text", "weights", "bias"),
    [
        ("3*pole_angle > 0.2", (3.0, 0.0), -0.2),
        ("speed*2+pole_angle/4>-1", (0.25, 2.0), 1.0),
        ("pole_angle < speed", (-1.0, 1.0), 0.0),
        ("−pole_angle − (1 - 0.5) > 0", (-1.0, 0.0), -0.5),
        ("2 * (pole_angle - speed) + pole_angle > 0", (3.0, -2.0), 0.0),
        ("0.5 > 0", (0.0, 0.0), 0.5),
        ("--speed + 1e-3 > .5e1", (0.0, 1.0), 1e-3 - 5.0),
        ("2·speed > 3×pole_angle", (-3.0, 2.0), 0.0),
        ("pole_angle > 0 ", (1.0, 0.0), 0.0),
    ],
)
def test_accepted_conditions(text: str, weights: tuple[float, ...], bias: float) -> None:
    assert condition(text) == Condition(weights, bias)


def test_layout_is_free() -> None:
    text = "# a comment\n\nif speed > 0: right  # here\nelse:\n\n   # another\n     if pole_angle > 0:\n\tleft\n"
    with pytest.raises(ProgramSyntaxError, match="an indented branch"):
        parse(text, SIGNATURE)
    text = text.replace("\tleft", "\t\tleft\n     else : right")
    inner = If(Condition((1.0, 0.0), 0.0), Act(0), Act(1))
    assert parse(text, SIGNATURE).root == If(Condition((0.0, 1.0), 0.0), Act(1), inner)
    assert parse(text.replace("\n", "\r\n"), SIGNATURE) == parse(text, SIGNATURE)


def test_outputs_in_any_order() -> None:
    assert parse(f"{OUTPUTS}b = 2\na = x") == parse(f"{OUTPUTS}a = x\nb = 2")


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("left\nif", 2, 1, "expected the end of the program, found 'if'"),
        ("\nif pole_angel > 0:", 2, 4, "expected a feature name, found 'pole_angel' (did you mean pole_angle?)"),
        ("if speed >= 0:\n left", 1, 10, "expected '>' or '<', found '>=' (conditions are strict comparisons)"),
        ("if 2 speed > 0: left", 1, 6, "expected '>', found 'speed' (write *speed to multiply)"),
        ("if speed*speed > 0: left", 1, 10, "two names cannot be multiplied"),
        ("if speed > 0\n  left", 1, 13, "expected ':', found the end of the line"),
        ("if speed > 0:\nleft", 2, 1, "expected an indented branch"),
        ("if speed > 0:\n  left\nright", 3, 1, "expected 'elif' or 'else', found 'right'"),
        ("if speed > 0:\n  left", 2, 7, "the program is not complete"),
        ("if speed > 0:\n  lefft\nelse: right", 2, 3, "found 'lefft' (did you mean left?)"),
        ("if speed/0 > 1: left", 1, 10, "expected a number other than zero"),
        ("if 1e999*speed > 1: left", 1, 4, "a number is too large"),
        ("if (speed > 1: left", 1, 11, "expected ')', found '>'"),
        ("if speed > : left", 1, 12, "expected a feature name or a number, found ':'"),
        ("if speed > 0: left $\nelse: right", 1, 20, "expected the end of the line, found '$'"),
        ("feature: a\nleft", 1, 1, "found 'feature' (did you mean features?)"),
        ("", 1, 1, "the program is not complete"),
    ],
)
def test_errors_point_at_the_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(ProgramSyntaxError) as caught:
        parse(text, SIGNATURE)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).startswith(f"line {line}, column {column}: expected {caught.value.expected}")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("left", "pass a signature"),
        ("# diprl program 2\nfeatures: x\nactions: a\na", "version 2"),
        ("features: x\nfeatures: y\nactions: a\na", "'features:' twice"),
        ("actions: a\na", "no 'features:'"),
        ("features: x\na", "needs one of 'actions:'"),
        ("features: x\nprimitives: f\nf", "'actuators:'"),
        ("features: x [m\nactions: a\na", "line 1, column 13: expected ','"),
        ("features: x in [2, 1]\nactions: a\na", "must not exceed"),
        ("features: x, x\nactions: a\na", "'x' is used twice"),
        ('features: x: "\\q"\nactions: a\na', "quoted text"),
        ("features: x\nactions: 1\na", "line 2, column 10: expected a name, found '1'"),
        (OUTPUTS + "a = x\na = x", "an output that is not set yet, found 'a'"),
        (OUTPUTS + "a = x\n", "a line for each output"),
        ("features: x\nprimitives: f, g\nactuators: 0 in [-1, 1]\nf", "between 1 and 10000"),
        ("features: x\nprimitives: f, g\nactuators: [-1, 1]\nf + g", "sum to one"),
        ("features: x\nprimitives: f, g\nactuators: [-1, 1]\nf + 1", "no constant"),
    ],
)
def test_header_errors(text: str, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse(text)
    assert message in str(caught.value)


def test_header_must_agree_with_a_given_signature() -> None:
    with pytest.raises(ProgramError, match="differs from the signature"):
        parse("features: x\nactions: left\nleft", SIGNATURE)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"{' ' * level}if speed > 0:\n" for level in range(3000)),
        "if " + "(" * 100_000 + "speed > 0: left",
        "if " + "-" * 100_000 + "speed > 0: left",
        "if speed > 0: " * 50_000,
        "left" + " " * 11_000_000,
        "if " + "9" * 400 + "*speed > 0: left",
        "features:" + "[" + " " * 100_000,
        'features: x: "' + "\\" * 100_001,
    ],
)
def test_hostile_text_gives_one_clear_error(text: str) -> None:
    with pytest.raises(ProgramError):
        parse(text, SIGNATURE)


@given(st.text(alphabet='if else:\n\t()+-*/<>=.,[]"#0123456789abspeedleftrightfeaturesactions−', max_size=80))
def test_random_text_never_breaks_the_parser(text: str) -> None:
    try:
        program = parse(text, SIGNATURE)
    except ProgramError:
        return
    assert parse(str(program)) == program


def test_program_is_hashable_and_summarised() -> None:
    program = parse("if speed > 1: left\nelse: right", SIGNATURE)
    assert len({program, parse(str(program))}) == 1
    assert repr(program) == "<Program: depth 2, 1 conditions, 2 coefficients>"
    assert program != Program(SIGNATURE, program.root, "other task")

"""What is not examined is not proved, rounding is not overlooked, and extreme numbers get a verdict."""

import time
from math import inf

import pytest

from diprl.program import Act, Condition, If, Program, parse
from diprl.program.signature import Continuous, Discrete, Feature, Signature
from diprl.verify import Answer, Spec, SpecError, parse_spec, verify
from diprl.verify.exact.linear import Box
from diprl.verify.properties import Branches, Symmetric
from tests.verify.examples import BALANCE, PLANE

UNBOUNDED = Signature((Feature("x"), Feature("y")), Discrete(("left", "right")))
MIRROR = "kind: symmetric, mirror: {stop: go, go: stop}"


def asked(program: Program, text: str, head: str = "timeout: 60") -> Answer:
    return verify(program, parse_spec(f"{head}\nproperties: [{{{text}}}]", program)).findings[0].answer


@pytest.mark.parametrize("within", ["{x: 0}", "{x: [1, 2]}"])
def test_symmetry_without_a_state_to_examine_is_unknown(within: str) -> None:
    program = parse("if x > 0: go\nelse: go", PLANE)
    answer = asked(program, f"{MIRROR}, within: {within}")
    assert answer.verdict == "unknown"
    assert answer.summary.startswith("nothing examined")


def test_a_condition_that_reads_nothing_hides_no_state_from_symmetry() -> None:
    program = Program(PLANE, If(Condition((0.0, 0.0), 0.0), Act(0), Act(1)))
    assert asked(program, MIRROR).verdict == "refuted"


@pytest.mark.parametrize(
    "text",
    [
        "kind: never, action: go, when: [x > 1, x < 1]",
        "kind: never, action: go, when: x > 5",
        "kind: monotone, feature: x, never_from: stop, to: go, within: {x: 1}",
    ],
)
def test_an_empty_set_is_never_proved(text: str) -> None:
    answer = asked(parse("if x > 0: go\nelse: stop", PLANE), text)
    assert (answer.verdict, answer.summary[:16]) == ("unknown", "nothing examined")


def test_coverage_of_floats_includes_the_outputs() -> None:
    features = tuple(Feature(name, low=-1.5e16, high=1.5e16) for name in "xyz")
    program = parse("u = x + y + z", Signature(features, Continuous(("u",), (-inf,), (inf,))))
    box = "{x: [1e16, 1e16], y: [1, 1], z: [1, 1]}"
    answer = asked(program, f"kind: never, action: u < 10000000000000002, within: {box}")
    assert program.act([1e16, 1.0, 1.0]) == [1e16]
    assert answer.verdict == "proved"
    assert "float64 arithmetic: covered" not in " ".join(answer.details)
    assert "proved in real arithmetic only" in " ".join(answer.details)
    assert "covered too" in " ".join(asked(program, f"kind: never, action: u < 0, within: {box}").details)


@pytest.mark.parametrize("timeout", ["1e300", "1e9", "1e-300"])
def test_any_time_limit_gives_a_verdict(timeout: str) -> None:
    assert asked(BALANCE, "kind: branches", f"timeout: {timeout}").verdict in ("proved", "unknown")


def test_time_limits_that_are_none_are_one_sentence() -> None:
    reached = Branches("b", Box((-1.0,) * 4, (1.0,) * 4))
    assert verify(BALANCE, Spec((reached,), timeout=inf)).proved
    for timeout in (float("nan"), 0.0, -1.0):
        with pytest.raises(SpecError, match="time limit"):
            Spec((reached,), timeout=timeout)


@pytest.mark.parametrize("box", [Box((0.0, 1.0), (1.0, 0.0)), Box((float("nan"),) * 2, (1.0, 1.0)), Box((), ())])
def test_a_box_that_is_none_is_one_sentence(box: Box) -> None:
    with pytest.raises(SpecError, match="interval"):
        verify(parse("if x > 0: go\nelse: stop", PLANE), Spec((Symmetric("s", box, (0,), (1, 0, 2)),)))


@pytest.mark.parametrize(
    "text",
    [
        "kind: symmetric, mirror: {left: right, right: left}",
        "kind: robust, at: {x: 1e300, y: -1e300}, scales: {x: 1e-300}",
        "kind: never, action: left, when: 1e308*x + y > 1e300",
        "kind: actions, only: [left], within: {x: [-inf, 1e308], y: [-1e308, inf]}",
    ],
)
def test_unbounded_and_huge_numbers_get_a_verdict(text: str) -> None:
    program = parse("if 1e300*x - 3*y > 1e-300: left\nelif 2*x > 1e300: right\nelse: left", UNBOUNDED)
    assert asked(program, text).verdict in ("proved", "refuted", "unknown")


def test_what_an_environment_shows_of_a_huge_state_is_no_error() -> None:
    program = parse(
        "if pv > 0: left\nelse: right",
        Signature(tuple(Feature(name) for name in ("cp", "cv", "pa", "pv")), Discrete(("left", "right"))),
    )
    text = "kind: symmetric, negate: [cp], mirror: {left: right, right: left}, within: {pv: -1e300}"
    assert asked(program, text, "task: CartPole-v1").verdict == "refuted"


def test_a_chain_of_ten_thousand_conditions_ends_with_its_time() -> None:
    chain: If | Act = Act(0)
    for number in range(10_000):
        chain = If(Condition((1.0, 0.0), number / 5000 - 2.0), Act(number % 2), chain)
    program = Program(PLANE, chain)
    for text in ("kind: branches", "kind: never, action: go", MIRROR):
        start = time.monotonic()
        assert asked(program, text, "timeout: 1").verdict in ("refuted", "unknown")
        assert time.monotonic() - start < 20.0


def test_never_reads_only_the_outputs_that_it_names() -> None:
    names = tuple(f"u{index}" for index in range(20))
    signature = Signature((Feature("x", low=-1.0, high=1.0),), Continuous(names, (-1.0,) * 20, (1.0,) * 20))
    program = parse("\n".join(f"{name} = 2*x" for name in names), signature)
    assert asked(program, "kind: never, action: u3 - u4 > 0").verdict == "proved"

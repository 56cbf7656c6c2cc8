"""Closed loops keep their time limit and give a verdict whatever the numbers are."""

import time
import warnings

import pytest

from diprl.program import parse
from diprl.program.signature import Discrete, Feature, Signature
from diprl.verify import Answer, parse_spec, verify
from tests.verify.examples import BALANCE, CAR

FREE_CAR = parse(
    "if velocity > 0: right\nelse: left",
    Signature((Feature("position"), Feature("velocity")), Discrete(("left", "coast", "right"))),
)
FREE_POLE = parse(
    "if 3*pa + pv > 0: right\nelse: left",
    Signature(tuple(Feature(name) for name in ("cp", "cv", "pa", "pv")), Discrete(("left", "right"))),
)


def car(text: str, head: str = "timeout: 5", program: object = FREE_CAR) -> Answer:
    spec = f"task: MountainCar-v0\n{head}\nproperties: [{{kind: safe, {text}}}]"
    return verify(program, parse_spec(spec, program)).findings[0].answer  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "start: {position: [-1e300, 0.5], velocity: [-0.15, 0.13]}, steps: 40, always: 0.3*velocity <= 0.7",
        "start: {position: [-1e308, 1e308], velocity: [-1e308, 1e308]}, steps: 3, always: position < 2",
        "start: {position: [0.3, 0.6], velocity: [-3, 1e300]}, steps: 40, always: 1e300*velocity < 1e308",
        "start: {position: [-1.2, 0.6], velocity: [-1, 0.02]}, steps: 40, always: velocity - position < 9",
        "start: {position: [-9, -1.2], velocity: [-0.07, 0]}, steps: 33, always: velocity > -9",
    ],
)
def test_cars_from_anywhere_get_a_verdict(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert car(text).verdict in ("proved", "refuted", "unknown")


def test_a_pole_of_any_speed_gets_a_verdict() -> None:
    names = "cart_position: [-1e300, 1], cart_velocity: [-1, 1e300], pole_angle: [-0.1, 0.1]"
    start = f"{{{names}, pole_angular_velocity: [-1e300, 1e300]}}"
    wanted = f"{{kind: safe, start: {start}, steps: 40, always: pole_angle < 9}}"
    text = f"task: CartPole-v1\ntimeout: 5\nproperties: [{wanted}]"
    answer = verify(FREE_POLE, parse_spec(text, FREE_POLE)).findings[0].answer
    assert answer.verdict in ("refuted", "unknown")


@pytest.mark.parametrize("always", ["velocity < 1", "position < 0.5"])
def test_simulating_keeps_the_time_limit(always: str) -> None:
    start = time.monotonic()
    text = f"start: {{position: [-0.6, -0.4], velocity: 0}}, steps: 1000000, always: {always}"
    car(text, "timeout: 1", CAR)
    assert time.monotonic() - start < 4.0


def test_time_that_simulating_leaves_is_used_to_prove() -> None:
    names = "cart_position", "cart_velocity", "pole_angle", "pole_angular_velocity"
    start = ", ".join(f"{name}: [-0.05, 0.05]" for name in names)
    text = f"kind: safe, start: {{{start}}}, steps: 1000000, always: [pole_angle < 0.2094, pole_angle > -0.2094]"
    answer = verify(BALANCE, parse_spec(f"timeout: 12\nproperties: [{{{text}}}]", BALANCE)).findings[0].answer
    assert answer.verdict == "proved"

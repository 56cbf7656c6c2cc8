"""Closed loops of plants of one's own: what is true is proved, what is false is refuted, enclosures enclose."""

import numpy as np
import pytest

from diprl.program import Program, parse
from diprl.verify import Answer, SpecError, parse_spec, verify
from diprl.verify.closed_loop.loop import Loop
from diprl.verify.closed_loop.sets import boxes
from diprl.verify.exact.question import Deadline
from diprl.verify.plants.read import parse_plant, plant_of
from tests.verify.examples import EXAMPLES

TANK = """
states: [level]
actions: {valve: {closed: 0, open: 1}}
parameters: {leak: [0.09, 0.11]}
rates: {level: 0.3*valve - leak*level}
sample: 0.5
start: {level: [0.2, 1.8]}
"""
KEEP = parse("features: level\nactions: closed, open\n\nif level > 1: closed\nelse: open\n")
PENDULUM = """
states: [angle, velocity]
actions: {torque: [-5, 5]}
disturbances: {wind: [-0.1, 0.1]}
rates: {angle: velocity, velocity: 2*sin(angle) + torque + wind}
sample: 0.1
start: {angle: [-0.2, 0.2], velocity: [-0.2, 0.2]}
"""
BALANCE = parse("features: angle, velocity\noutputs: torque in [-5, 5]\n\ntorque = -6*angle - 4*velocity\n")


def asked(program: Program, plant: str, text: str, timeout: float = 60.0) -> Answer:
    spec = parse_spec(f"timeout: {timeout}\nproperties: [{{{text}}}]", program, plant=parse_plant(plant))
    return verify(program, spec).findings[0].answer


@pytest.mark.parametrize(
    ("program", "plant", "text", "verdict"),
    [
        (KEEP, TANK, "kind: always, hold: [level < 1.9, level > 0.1]", "proved"),
        (KEEP, TANK, "kind: always, hold: level < 1.7", "refuted"),
        (KEEP, TANK, "kind: stays, after: 60, hold: [level < 1.2, level > 0.8]", "proved"),
        (KEEP, TANK, "kind: stays, after: 60, hold: [level < 1.01, level > 0.99]", "refuted"),
        (KEEP, TANK, "kind: reaches, goal: [level < 1.2, level > 0.8], steps: 30", "proved"),
        (KEEP, TANK, "kind: reaches, goal: [level < 1.2, level > 0.8], steps: 2", "refuted"),
        (KEEP, TANK, "kind: reaches, goal: level > 5, steps: 20", "refuted"),
        (KEEP, TANK, "kind: always, steps: 30, hold: level < 1.9, noise: {level: 0.05}", "proved"),
        (
            KEEP,
            TANK,
            "kind: always, steps: 12, hold: [level < 1.9, level > 0.1], delay: 1, first: {valve: 0}",
            "proved",
        ),
        (KEEP, TANK, "kind: chattering, steps: 5, switches: 5", "proved"),
        (KEEP, TANK, "kind: chattering, steps: 40, switches: 1", "refuted"),
        (BALANCE, PENDULUM, "kind: always, hold: [angle < 0.4, angle > -0.4]", "proved"),
        (BALANCE, PENDULUM, "kind: always, hold: angle < 0.15", "refuted"),
        (BALANCE, PENDULUM, "kind: stays, after: 60, hold: [angle < 0.1, angle > -0.1]", "proved"),
        (BALANCE, PENDULUM, "kind: always, steps: 20, hold: angle < 0.5, delay: 1", "proved"),
    ],
)
def test_loops_get_the_right_verdict(program: Program, plant: str, text: str, verdict: str) -> None:
    answer = asked(program, plant, text)
    assert (answer.verdict, answer.real_only) == (verdict, False), answer
    assert bool(answer.witness) == (verdict == "refuted")
    assert bool(answer.certificate) == (verdict == "proved")


def test_an_orbit_that_never_arrives_is_called_persistent() -> None:
    plant = "states: [x]\nactions: {u: {a: 0, b: 1}}\nnext: {x: -x}\nstart: {x: [0.5, 1]}\n"
    program = parse("features: x\nactions: a, b\n\na\n")
    answer = asked(program, plant, "kind: reaches, goal: [x < 0.1, x > -0.1], steps: 10")
    assert answer.verdict == "refuted"
    assert "repeats every 2 steps" in answer.details[0]


@pytest.mark.parametrize(("program", "plant"), [(KEEP, TANK), (BALANCE, PENDULUM)])
def test_enclosed_steps_contain_simulated_ones(program: Program, plant: str) -> None:
    read = parse_plant(plant)
    loop = Loop(program, read, (0.0,) * len(read.features))
    generator = np.random.default_rng(0)
    low = np.array(read.start.low)  # type: ignore[union-attr]
    for width in (0.01, 0.1, 0.5):
        sets = boxes(low[None], low[None] + width)
        states = generator.uniform(low, low + width, (500, len(low))).T
        unknowns = np.array([generator.uniform(one.low, one.high, 500) for one in read.unknowns]).reshape(-1, 500)
        after = read.next_states(states, read.inputs_of(program.act_batch(read.observed(states).T)), unknowns)
        inside = np.zeros(500, bool)
        images = loop.images(sets, (), Deadline(60.0)).states
        for low_side, high_side in zip((images.low - 1e-9).T, (images.high + 1e-9).T, strict=True):
            inside |= ((low_side[:, None] <= after) & (after <= high_side[:, None])).all(axis=0)
        assert inside.all()


def test_a_program_in_float32_is_proved_or_refuted_in_float32() -> None:
    """In float32, 1.00000005 and 1 are the same number."""
    plant = "states: [x]\nactions: {u: {a: 0, b: 1}}\nnext: {x: x + u}\nstart: {x: 1.00000005}\n"
    program = parse("features: x\nactions: a, b\n\nif x > 1: a\nelse: b\n")
    for arithmetic, verdict in (("float64", "proved"), ("float32", "refuted")):
        text = f"arithmetic: {arithmetic}\nproperties: [{{kind: always, steps: 2, hold: x < 1.5}}]"
        answer = verify(program, parse_spec(text, program, plant=parse_plant(plant))).findings[0].answer
        assert answer.verdict == verdict
    text = "arithmetic: float32\nproperties: [{kind: always, hold: level < 1.9}]"
    answer = verify(KEEP, parse_spec(text, KEEP, plant=parse_plant(TANK))).findings[0].answer
    assert (answer.verdict, "float32 rounding of the program" in answer.details[1]) == ("proved", True)


def test_proofs_do_not_depend_on_the_processes_and_progress_is_told() -> None:
    car = Program.load(EXAMPLES.parent / "results" / "improved" / "MountainCar-v0-seed123-simplified.txt")
    text = "timeout: 120\nproperties: [{kind: reaches, goal: position >= 0.5, steps: 106}]"
    told: list[tuple[float, str]] = []

    def tell(share: float, what: str) -> None:
        told.append((share, what))

    answers = [verify(car, parse_spec(text, car), tell, processes=count).findings[0].answer for count in (1, 2)]
    assert [answer.verdict for answer in answers] == ["proved", "proved"]
    assert answers[0].certificate == answers[1].certificate
    shares = [share for share, _ in told]
    assert max(shares) == 1.0
    assert any("pieces of the start box" in what for _, what in told)


def test_certificates_are_kept_and_used_again(tmp_path: object) -> None:
    spec = parse_spec("properties: [{kind: always, hold: level < 1.9}]", KEEP, plant=parse_plant(TANK))
    first = verify(KEEP, spec, certificates=str(tmp_path)).findings[0].answer
    second = verify(KEEP, spec, certificates=str(tmp_path)).findings[0].answer
    assert (first.verdict, second.verdict) == ("proved", "proved")
    assert "read from the folder" in second.details[0]
    assert "read from the folder" not in first.details[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("states: [x]", "needs 'actions:'"),
        ("states: [x]\nactions: {u: [0, 1]}", "'x' needs one equation"),
        ("states: [x]\nactions: {u: [0, 1]}\nnext: {x: x + y}", "expected a number, a feature that stands above"),
        ("states: [x]\nactions: {u: [0, 1]}\nnext: {x: x + 1, y: 1}", "'y' is not a state"),
        ("states: [x]\nactions: {u: [0, 1]}\nrates: {x: 'where(x > 0, 1, 0)'}", "cannot be used in 'rates:'"),
        ("states: [x, x]\nactions: {u: [0, 1]}\nnext: {x: x}", "named twice"),
        ("states: [sin]\nactions: {u: [0, 1]}\nnext: {sin: 1}", "cannot be a name"),
        ("states: [x]\nactions: {u: [0, 1]}\nnext: {x: x**2}", "column 13: expected a number"),
        ("states: [held_x]\nactions: {u: [0, 1]}\nnext: {held_x: 1}", "cannot be a name"),
        ("states: [x]\nactions: {u: [0, 1]}\nnext: {x: __import__(1)}", "expected"),
        (f"states: [x]\nactions: {{u: [0, 1]}}\nnext: {{x: {'(' * 120}x}}", "nests less deeply"),
        ("states: [x]\nactions: {u: [0, 1]}\nnext: {x: x}\nmethod: magic", "is not a method"),
    ],
)
def test_mistakes_in_plants_are_named(text: str, message: str) -> None:
    with pytest.raises(Exception, match=message.replace("(", r"\(")) as error:
        parse_plant(text)
    assert isinstance(error.value, (SpecError, Exception))
    assert "\n" not in str(error.value)


def test_acrobot_can_be_refuted_but_not_proved() -> None:
    plant = plant_of("Acrobot-v1")
    names = ", ".join(f"f{index}" for index in range(6))
    program = parse(f"features: {names}\nactions: a, b, c\n\nif f4 > 0: c\nelse: a\n")
    wanted = "{kind: reaches, goal: -cos(angle) - cos(bend + angle) > 1, steps: 3}"
    answers = verify(program, parse_spec(f"properties: [{wanted}]", program, plant=plant)).findings
    assert answers[0].answer.verdict == "refuted"
    text = "properties: [{kind: always, steps: 2, hold: velocity < 20}]"
    answer = verify(program, parse_spec(text, program, plant=plant)).findings[0].answer
    assert (answer.verdict, "cannot be proved yet" in answer.summary) == ("unknown", True)

"""Enclosures enclose: of functions, and of thousands of simulated closed loops."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diprl.program import Program
from diprl.verify import Spec, parse_spec, verify
from diprl.verify.closed_loop.attempt import flow, hull
from diprl.verify.closed_loop.enclosure import coordinates
from diprl.verify.closed_loop.models import MODELS, Model
from diprl.verify.closed_loop.reach import polytope_of, split, start_sets
from diprl.verify.closed_loop.simulate import next_states, runs, starts_of, trajectory
from diprl.verify.context import Context
from diprl.verify.exact.linear import Box
from diprl.verify.exact.polytope import axes
from diprl.verify.exact.question import Deadline
from tests.verify.examples import BALANCE, CAR, SIX_BRANCHES

CART, SLOPE = MODELS["CartPole-v1"], MODELS["MountainCar-v0"]
NARROW = Box((-0.05,) * 4, (0.05,) * 4)
VALLEY = Box((-0.6, 0.0), (-0.4, 0.0))


def closed(program: Program, model: Model) -> Context:
    """A loop with time enough on a busy machine."""
    return Context(program, model, Deadline(600.0))


@pytest.mark.parametrize(
    ("program", "model", "box"),
    [
        (BALANCE, CART, NARROW),
        (SIX_BRANCHES, CART, NARROW),
        (SIX_BRANCHES, CART, Box((0.0, -1.0, 0.0, -0.5), (0.5, 0.0, 0.1, 0.0))),
        (CAR, SLOPE, VALLEY),
        (CAR, SLOPE, Box((-1.19, -0.07), (-1.1, -0.02))),
    ],
)
@pytest.mark.parametrize("most", [1, 3])
def test_simulated_states_lie_in_the_enclosures_of_every_step(
    program: Program, model: Model, box: Box, most: int
) -> None:
    loop = closed(program, model)
    start = start_sets(loop, box, (), np.ones(len(box.low)), most)
    steps = 10
    enclosures = list(islice(flow(loop, start, most), steps + 1))
    starts = starts_of(box, 3000)
    for sets, (states, going_on) in zip(enclosures, runs(loop, starts, steps), strict=False):
        inside = np.zeros(states.shape[1], bool)
        for polytope in sets:
            inside |= (polytope.directions @ states <= polytope.offsets[:, None] + 1e-12).all(axis=0)
        assert inside[going_on].all()


@pytest.mark.parametrize(("program", "model", "box"), [(SIX_BRANCHES, CART, NARROW), (CAR, SLOPE, VALLEY)])
def test_the_models_step_as_the_environments_do(program: Program, model: Model, box: Box) -> None:
    loop = closed(program, model)
    for start in starts_of(box, 3).T[:3].tolist():
        real = trajectory(loop, tuple(start), 60)
        state = np.array(start)[:, None]
        for expected in real:
            np.testing.assert_allclose(state[:, 0], expected, rtol=0, atol=1e-11)
            state = next_states(loop, state)


@given(
    st.lists(st.tuples(st.floats(-1.5, 1.5), st.floats(0.0, 0.7)), min_size=4, max_size=4),
    st.integers(0, 1),
    st.integers(0, 10**6),
)
def test_enclosed_dynamics_contain_sampled_ones(sides: list[tuple[float, float]], action: int, seed: int) -> None:
    low = np.array([middle - half for middle, half in sides])
    high = np.array([middle + half for middle, half in sides])
    forms, middle = coordinates(low, high)
    states = np.random.default_rng(seed).uniform(low, high, (50, 4)).T
    after = CART.step(list(states), action)
    for form, values in zip(CART.step(forms, action), after, strict=True):
        linear = form.centre + form.slopes @ (states - middle[:, None])
        assert (np.abs(values - linear) <= form.error + 1e-12).all()
    car, origin = coordinates(low[:2], high[:2])
    for form, values in zip(SLOPE.step(car, action), SLOPE.step(list(states[:2]), action), strict=True):
        linear = form.centre + form.slopes @ (states[:2] - origin[:, None])
        assert (np.abs(values - linear) <= form.error + 1e-12).all()


def safe(text: str, program: Program) -> tuple[str, str]:
    answer = (
        verify(program, parse_spec(f"timeout: 120\nproperties: [{{kind: safe, {text}}}]", program)).findings[0].answer
    )
    return answer.verdict, answer.summary


START = "start: {cart_position: [-0.05, 0.05], cart_velocity: [-0.05, 0.05], pole_angle: [-0.05, 0.05], \
pole_angular_velocity: [-0.05, 0.05]}"


def test_the_pole_is_proved_to_stay_up_for_whole_episodes() -> None:
    verdict, summary = safe(f"{START}, steps: 500, always: [pole_angle < 0.2094, pole_angle > -0.2094]", BALANCE)
    assert verdict == "proved"
    assert "at every step" in summary


def test_a_pole_that_falls_is_replayed_in_the_environment() -> None:
    wanted = f"{{kind: safe, {START}, steps: 20, always: pole_angle < 0.1}}"
    text = f"timeout: 120\ntask: CartPole-v1\nproperties: [{wanted}]"
    answer = verify(SIX_BRANCHES, parse_spec(text, SIX_BRANCHES)).findings[0].answer
    assert answer.verdict == "refuted"
    assert answer.witness is not None
    start = tuple(value for _, value in answer.witness.states[0][1])
    assert NARROW.contains(start)
    assert max(state[2] for state in trajectory(closed(SIX_BRANCHES, CART), start, 20)) >= 0.1


def test_an_enclosure_that_is_too_wide_claims_only_what_it_showed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diprl.verify.closed_loop.attempt.MOST_SETS", (1,))
    verdict, summary = safe(f"{START}, steps: 12, always: cart_velocity < 1.5", BALANCE)
    assert verdict == "unknown"
    assert summary.startswith("proved for the first 7 steps only: after that the enclosure")
    assert safe(f"{START}, steps: 7, always: cart_velocity < 1.5", BALANCE)[0] == "proved"


def test_the_car_is_proved_not_to_arrive_early() -> None:
    text = "start: {position: [-0.6, -0.4], velocity: 0}, steps: 30, always: [position < 0.5, velocity <= 0.07]"
    assert safe(text, CAR)[0] == "proved"


def test_a_task_without_a_model_is_unknown() -> None:
    text = f"properties: [{{kind: safe, {START}, steps: 3, always: pole_angle < 1}}]"
    spec = parse_spec(text, BALANCE)
    report = verify(BALANCE, Spec(spec.properties, "Elsewhere-v0"))
    assert report.findings[0].answer.verdict == "unknown"
    assert "dynamics" in report.findings[0].answer.summary


def test_hulls_and_halves_lose_nothing() -> None:
    parts = split(NARROW, np.array([1.0, 1.0, 0.1, 1.0]), 5)
    assert len(parts) == 5
    loop = closed(BALANCE, CART)
    around = hull([polytope_of(loop, part, axes(4)) for part in parts])
    assert (around.offsets == polytope_of(loop, NARROW, axes(4)).offsets).all()
    volume = sum(np.prod(np.subtract(part.high, part.low)) for part in parts)
    assert volume == pytest.approx(0.1**4)

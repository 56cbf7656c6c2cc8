"""The word 'proved' survives sampling, 'refuted' comes with a state that shows it, and 'unknown' says why."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diprl.program import Act, Condition, Discrete, If, Program, parse
from diprl.program.ast import conditions, terminals
from diprl.program.evaluate import terminal_at
from diprl.verify import Report, Spec, parse_spec, verify
from diprl.verify.exact.linear import Constraint, bounds_of, exact, of_condition
from diprl.verify.properties import Actions, Branches, Equivalent, Monotone, Never, Property, Robust, Symmetric
from diprl.verify.properties.nearest import Ruler
from diprl.verify.properties.pairs import switch
from tests.program.strategies import observations, programs, tame_numbers
from tests.verify.examples import BALANCE, PLANE, SIX_BRANCHES, TORQUE

discrete_programs = programs(tame_numbers, (Discrete,))
few = settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow], deadline=None)


def exact_leaf(program: Program, state: list[float]) -> int:
    """The number of the branch that a state reaches in real arithmetic."""
    node, before = program.root, 0
    while isinstance(node, If):
        if of_condition(node.condition).holds(state):
            node = node.then
        else:
            before += len(terminals(node.then))
            node = node.orelse
    return before


def samples(program: Program, count: int = 400) -> list[list[float]]:
    box = bounds_of(program.signature)
    return [list(box.clamp(row)) for row in observations(program, count, 0, special=False).tolist()]


def asked(*properties: Property) -> Spec:
    """A specification with time enough on a busy machine."""
    return Spec(properties, timeout=120.0)


def state_of(report: Report, index: int = 0) -> list[float]:
    witness = report.findings[0].answer.witness
    assert witness is not None
    return [value for _, value in witness.states[index][1]]


def verdict(report: Report) -> str:
    (finding,) = report.findings
    return finding.answer.verdict


@few
@given(discrete_programs)
def test_branches_agree_with_sampling(program: Program) -> None:
    answer = verify(program, asked(Branches("b", bounds_of(program.signature)))).findings[0].answer
    dead = {int(line.split()[1]) - 1 for line in answer.details} if answer.verdict == "refuted" else set()
    assert not dead & {exact_leaf(program, state) for state in samples(program)}
    if answer.verdict == "proved":
        assert len(answer.details) == len(terminals(program.root))


@few
@given(discrete_programs, st.data())
def test_never_agrees_with_sampling(program: Program, data: st.DataObject) -> None:
    names = program.signature.feature_names
    weights = data.draw(st.tuples(*[tame_numbers] * len(names)))
    when = Constraint(exact(weights), Fraction(data.draw(tame_numbers)), data.draw(st.booleans()))
    box = bounds_of(program.signature)
    report = verify(program, asked(Never("n", box, 0, (when,))))
    if verdict(report) == "refuted":
        state = state_of(report)
        assert box.contains(state)
        assert when.holds(state)
        assert program.act(state) == 0
    elif verdict(report) == "proved":
        leaves = terminals(program.root)
        for state in samples(program):
            assert not when.holds(state) or leaves[exact_leaf(program, state)] != Act(0)


@few
@given(discrete_programs)
def test_possible_actions_agree_with_sampling(program: Program) -> None:
    report = verify(program, asked(Actions("a", bounds_of(program.signature))))
    possible = report.findings[0].answer.summary.partition(": ")[2].split(", ")
    leaves, names = terminals(program.root), program.signature.actions.names
    seen = {leaves[exact_leaf(program, state)] for state in samples(program)}
    assert {names[leaf.action] for leaf in seen if isinstance(leaf, Act)} <= set(possible)


@few
@given(discrete_programs, st.data())
def test_monotone_agrees_with_sampling(program: Program, data: st.DataObject) -> None:
    count = len(program.signature.actions.names)
    before, after = data.draw(st.tuples(*[st.integers(0, count - 1)] * 2))
    feature = data.draw(st.integers(0, len(program.signature.features) - 1))
    box = bounds_of(program.signature)
    report = verify(program, asked(Monotone("m", box, feature, "switch", partial(switch, before, after))))
    if verdict(report) == "refuted":
        state, raised = state_of(report), state_of(report, 1)
        changed = [index for index in range(len(state)) if state[index] != raised[index]]
        assert changed == [feature]
        assert raised[feature] > state[feature]
        assert (program.act(state), program.act(raised)) == (before, after)
        return
    leaves = terminals(program.root)
    for state in samples(program, 60):
        higher = [*state[:feature], state[feature] + abs(state[feature]) + 0.5, *state[feature + 1 :]]
        if verdict(report) == "proved" and box.contains(higher):
            actions = tuple(leaves[exact_leaf(program, place)] for place in (state, higher))
            assert actions != (Act(before), Act(after))


@few
@given(discrete_programs, st.data())
def test_no_sample_within_the_radius_acts_differently(program: Program, data: st.DataObject) -> None:
    box = bounds_of(program.signature)
    state = tuple(samples(program, 1)[0])
    norm = data.draw(st.sampled_from(["max", "sum"]))
    scales = tuple(data.draw(st.sampled_from([0.5, 1.0, 3.0])) for _ in state)
    report = verify(program, asked(Robust("r", box, Ruler(state, scales, norm), 0.05)))
    if verdict(report) == "refuted":
        assert terminal_at(program.root, tuple(state_of(report, 1))) != terminal_at(program.root, state)
        return
    leaves, current = terminals(program.root), terminal_at(program.root, state)
    generator = np.random.default_rng(0)
    for step in generator.uniform(-1.0, 1.0, (300, len(state))):
        size = np.abs(step).max() if norm == "max" else np.abs(step).sum()
        place = box.clamp((np.asarray(state) + 0.0499 * step / size * scales).tolist())
        if verdict(report) == "proved":
            assert leaves[exact_leaf(program, list(place))] == current


@few
@given(discrete_programs, st.data())
def test_equivalence_and_symmetry_agree_with_sampling(program: Program, data: st.DataObject) -> None:
    box = bounds_of(program.signature)
    swapped = program.edit(swap=True) if isinstance(program.root, If) else program
    middle = box.clamp([0.0] * len(box.low))
    ones = (1.0,) * len(box.low)
    wanted = Equivalent("e", box, swapped, 0.0, Ruler(middle, ones))
    mirror = tuple(reversed(range(len(program.signature.actions.names))))
    report = verify(program, asked(wanted, Symmetric("s", box, tuple(range(len(ones))), mirror)))
    same, symmetric = (finding.answer for finding in report.findings)
    assert verify(program, asked(Equivalent("e", box, program, 0.0, Ruler(middle, ones)))).proved
    if same.verdict == "refuted":
        state = state_of(report)
        assert program.act(state) != swapped.act(state)
    leaves = terminals(program.root)
    for state in samples(program, 100):
        image = [-value for value in state]
        rows = [of_condition(condition) for condition in conditions(program.root)]
        if same.verdict == "proved":
            assert leaves[exact_leaf(program, state)] == terminals(swapped.root)[exact_leaf(swapped, state)]
        on_threshold = any(row.value(place) == 0 for row in rows for place in (state, image))
        if symmetric.verdict == "proved" and box.contains(image) and not on_threshold:
            ours, theirs = leaves[exact_leaf(program, state)], leaves[exact_leaf(program, image)]
            assert isinstance(ours, Act)
            assert Act(mirror[ours.action]) == theirs


def test_a_planted_violation_is_found_and_confirmed_in_interpreter_and_environment() -> None:
    wanted = "{kind: never, action: left, when: pole_angle > 0.1, within: {pole_angle: [-0.2, 0.2]}}"
    spec = f"task: CartPole-v1\nbox: {{cart_position: [-2, 2]}}\nproperties: [{wanted}]"
    report = verify(BALANCE, parse_spec(spec, BALANCE))
    assert verdict(report) == "refuted"
    state = state_of(report)
    assert state[2] > 0.1
    assert BALANCE.act(state) == 0
    replays = report.findings[0].answer.witness.replays  # type: ignore[union-attr]
    assert "the interpreter gives 'left'" in replays
    assert any(replay.startswith("CartPole-v1: the program gives 'left'") for replay in replays)


def test_a_dead_branch_is_named() -> None:
    program = parse("if x > 1: go\nelif x > 1.5: turn\nelse: stop", PLANE)
    answer = verify(program, asked(Branches("b", bounds_of(PLANE)))).findings[0].answer
    assert answer.verdict == "refuted"
    assert answer.details == ("branch 2 is dead: turn where -x + 1 >= 0 and x - 1.5 > 0",)


def test_thresholds_are_strict() -> None:
    program = parse("if x > 1: go\nelse: stop", PLANE)
    spec = "properties:\n- {kind: never, action: go, when: x <= 1}\n- {kind: never, action: stop, when: x >= 1}"
    first, second = verify(program, parse_spec(spec, program)).findings
    assert first.answer.verdict == "proved"
    assert second.answer.verdict == "refuted"
    assert dict(second.answer.witness.states[0][1])["x"] == 1.0  # type: ignore[union-attr]


def test_a_counterexample_between_two_floats_refutes_nothing() -> None:
    third = If(Condition((3.0, 0.0), -1.0), If(Condition((-3.0, 0.0), 1.0000000000000002), Act(1), Act(0)), Act(0))
    program = Program(PLANE, third)
    report = verify(program, asked(Never("n", bounds_of(PLANE), 1, ())))
    assert verdict(report) == "unknown"
    assert "does not reproduce" in report.findings[0].answer.summary


@pytest.mark.parametrize("kind", ["branches", "actions", "symmetric", "safe"])
def test_running_out_of_time_is_unknown(kind: str) -> None:
    more = {
        "symmetric": "mirror: {left: right, right: left}",
        "safe": "steps: 5, always: [pole_angle < 1], start: {cart_position: [0, 0.1], cart_velocity: 0, "
        "pole_angle: 0, pole_angular_velocity: 0}",
    }.get(kind, "name: x")
    spec = f"task: CartPole-v1\ntimeout: 1e-9\nproperties: [{{kind: {kind}, {more}}}]"
    report = verify(SIX_BRANCHES, parse_spec(spec, SIX_BRANCHES))
    assert verdict(report) == "unknown"
    assert "time limit" in report.findings[0].answer.summary
    assert not report.proved


def test_the_exact_radius_of_a_half_space() -> None:
    program = parse("if 3*x + 4*y > 7: go\nelse: stop", PLANE)
    box = bounds_of(PLANE)
    for norm, radius in (("max", "1 "), ("sum", "1.75 ")):
        answer = verify(program, asked(Robust("r", box, Ruler((0.0, 0.0), (1.0, 1.0), norm), None))).findings[0].answer
        assert answer.verdict == "proved"
        assert f"closer than {radius}" in answer.summary


def test_continuous_outputs_are_clipped_before_they_are_judged() -> None:
    program = parse("if x > 0: torque = 3*x\nelse: torque = 0.25*x + 0.5*y", TORQUE)
    spec = """
properties:
  - {kind: actions, outputs: {torque: [-1, 1]}}
  - {kind: never, action: torque > 0.99, when: x <= 0}
  - {kind: never, action: torque < 0, when: x > 0}
  - {kind: monotone, feature: y, output: torque, direction: never falls}
  - {kind: monotone, feature: x, output: torque, direction: never falls}
"""
    answers = [finding.answer for finding in verify(program, parse_spec(spec, program)).findings]
    assert [answer.verdict for answer in answers] == ["proved", "refuted", "proved", "proved", "refuted"]
    assert answers[0].details[0] == "torque lies in [-1, 1], exactly"
    assert answers[2].told.startswith("proved")

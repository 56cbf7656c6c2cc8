"""Specifications: what is read, and what is said about mistakes."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from diprl.cli import main
from diprl.program import Program
from diprl.verify import Spec, SpecError, load_spec, parse_spec, verify
from diprl.verify.properties import LoopProperty, Never
from tests.verify.examples import BALANCE, EXAMPLES, SIX_BRANCHES


def patient(program: Program) -> Spec:
    """The example with time enough on a busy machine."""
    return replace(load_spec(EXAMPLES / "cartpole.spec.yaml", program), timeout=120.0)


def test_the_example_is_proved() -> None:
    report = verify(BALANCE, patient(BALANCE))
    assert report.proved
    text = str(report)
    assert "right where 3*pole_angle + pole_angular_velocity > 0; mirrored: left where" in text
    assert "real arithmetic" in text
    assert report.count("proved") == len(report.findings)


def test_the_example_separates_a_random_program() -> None:
    report = verify(SIX_BRANCHES, patient(SIX_BRANCHES))
    verdicts = {finding.name: finding.answer.verdict for finding in report.findings}
    assert verdicts["every branch is used"] == "proved"
    assert verdicts["left and right are mirror images"] == "refuted"
    assert verdicts["the pole stays up"] == "refuted"
    for finding in report.findings:
        if finding.answer.verdict == "refuted":
            assert finding.answer.witness is not None
            assert finding.answer.witness.replays


def property_of(line: str) -> str:
    return f"properties:\n  - {line}\n"


SAFE = "start: {cart_position: 0, cart_velocity: 0, pole_angle: 0, pole_angular_velocity: 0}, always: pole_angle < 1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the specification is empty"),
        ("a: [", "line 1: this is not valid YAML"),
        ("just words", "line 1: a specification must be a mapping"),
        ("box: {}", "line 1: a specification needs 'properties:'"),
        ("properties: []", "line 1: 'properties:' must be a list with at least one property"),
        ("propertys: []\nproperties: [a]", "line 1: a specification has no key 'propertys': did you mean properties?"),
        (property_of("{name: x}"), "line 2: a property needs 'kind:'"),
        (property_of("{kind: nevr}"), "line 2: 'nevr' is not a kind of property: did you mean never?"),
        (property_of("{kind: never, action: rihgt}"), "line 2: 'rihgt' is not an action name: did you mean right?"),
        (
            property_of("kind: never\n    action: left\n    when: [pole_angel > 0]"),
            "line 4, column 12: expected a feature name, found 'pole_angel' (did you mean pole_angle?)",
        ),
        (property_of("{kind: never, action: left, when: pole_angle = 0}"), "line 2, column 50: expected '>', '<'"),
        (property_of("{kind: branches, within: {pole_angle: [5, 6]}}"), "leaves nothing of [-0.418, 0.418]"),
        (property_of("{kind: branches, within: {pole_angle: low}}"), "line 2: expected a number, found 'low'"),
        (property_of("{kind: robust, at: {pole_angle: 0}}"), "cart_position is missing"),
        (property_of("{kind: symmetric, mirror: {left: right}}"), "exactly one mirror image"),
        (property_of("{kind: safe, start: {pole_angel: 0}, steps: 3, always: pole_angle < 1}"), "is not a state"),
        (property_of("{kind: safe, within: {}}"), "closed loops have 'start:'"),
        (property_of("{kind: reaches, goal: pole_angle > 1}"), "a property needs 'steps:'"),
        (property_of("{kind: always, hold: pole_angel > 1}"), "did you mean pole_angle?"),
        (property_of("{kind: always, hold: pole_angle > 1, delay: 2}"), "expected a whole number from 0 to 1, found 2"),
        (property_of("{kind: always, hold: pole_angle > 1, noise: {pole_angle: -1}}"), "above zero"),
        (property_of("{kind: equivalent, to: nowhere.txt}"), "cannot be read"),
        ("timeout: 0\n" + property_of("{kind: branches}"), "line 1: expected a number above zero"),
        ("a: &x 1\nb: *x", "aliases and tags"),
        ("a: !!python/object:os.system {}", "aliases and tags"),
        ("[" * 13 + "]" * 13, "nests deeper than 12 levels"),
        ("[" * 100_000, "nests deeper than 12 levels"),
        ("x" * 1_000_001, "longer than"),
        ("a: 1\na: 2", "line 2: every key must be plain text and appear once"),
        ("timeout: inf\n" + property_of("{kind: branches}"), "line 1: expected a number above zero, found inf"),
        (property_of("{kind: branches, within: {pole_angle: [inf, inf]}}"), "expected an interval"),
        (property_of("{kind: branches, within: {pole_angle: [-inf, -inf]}}"), "expected an interval"),
        (property_of(f"{{kind: safe, {SAFE}, steps: {'9' * 10_000}}}"), "whole number from 1 to 1000000"),
        (property_of(f"{{kind: safe, {SAFE}, steps: 0000000010000000}}"), "whole number from 1 to 1000000"),
        (property_of(f"{{kind: never, action: left, when: {'9' * 10_000}*pole_angle > 0}}"), "too large"),
        (property_of("{kind: never, action: left, when: 1e308*pole_angle > -1e308*pole_angle}"), "too large"),
        (property_of(f"{{kind: branches, within: {{pole_angle: {'9' * 10_000}}}}}"), "expected an interval"),
    ],
)
def test_mistakes_are_named_with_their_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    with pytest.raises(SpecError) as error:
        load_spec(path, BALANCE)
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_scalars_mean_what_their_field_wants() -> None:
    spec = parse_spec(property_of("{kind: never, action: left, within: {pole_angle: [-1e-3, 1e-3]}}"), BALANCE)
    (wanted,) = spec.properties
    assert isinstance(wanted, Never)
    assert (wanted.box.low[2], wanted.box.high[2]) == (-1e-3, 1e-3)


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as exit_code:
        main(["verify", *map(str, arguments)])
    assert isinstance(exit_code.value.code, int)
    return exit_code.value.code


def test_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, spec = EXAMPLES / "cartpole.txt", tmp_path / "spec.yaml"
    spec.write_text(property_of("{kind: branches, name: used}"))
    assert run(program, spec) == 0
    assert "proved   used" in capsys.readouterr().out
    spec.write_text(property_of("{kind: never, action: left, name: wrong}"))
    assert run(program, spec, "--json") == 1
    report = json.loads(capsys.readouterr().out)
    assert report["findings"][0]["answer"]["verdict"] == "refuted"
    assert report["findings"][0]["answer"]["witness"]["replays"]
    spec.write_text("nothing")
    assert run(program, spec) == 2
    assert run(program, tmp_path / "missing.yaml") == 2


def test_steps_may_have_leading_zeros() -> None:
    (wanted,) = parse_spec(property_of(f"{{kind: safe, {SAFE}, steps: {'0' * 5_000}12}}"), BALANCE).properties
    assert isinstance(wanted, LoopProperty)
    assert wanted.claim.steps == 12


def test_an_error_is_not_taken_for_a_refutation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ArithmeticError("planted")

    monkeypatch.setattr("diprl.verify.properties.actions.Branches.check", broken)
    spec = tmp_path / "spec.yaml"
    spec.write_text(property_of("{kind: branches}"))
    assert run(EXAMPLES / "cartpole.txt", spec) == 2
    assert "planted" in capsys.readouterr().err


def test_two_programs_are_compared_by_file(tmp_path: Path) -> None:
    BALANCE.edit(bias=0.001).save(tmp_path / "other.txt")
    near = "{cart_position: 0, cart_velocity: 0, pole_angle: 0, pole_angular_velocity: 0}"
    text = property_of(f"{{kind: equivalent, to: other.txt, near: {near}}}")
    answer = verify(BALANCE, parse_spec(text, BALANCE, tmp_path)).findings[0].answer
    assert answer.verdict == "refuted"
    assert answer.witness is not None
    state = [value for _, value in answer.witness.states[0][1]]
    assert BALANCE.act(state) != BALANCE.edit(bias=0.001).act(state)
    assert max(map(abs, state)) < 0.001


def test_proofs_do_not_need_jax() -> None:
    code = "import sys, diprl.verify; sys.exit('jax' in sys.modules or 'z3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

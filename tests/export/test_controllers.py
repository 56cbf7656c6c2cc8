"""Controllers in every language: input checks, fallback, status, signature, and what independent tools say of them."""

import json
import subprocess
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diprl.errors import DiprlError
from diprl.export import Samples, Written, c_check, draw, export, structure
from diprl.export.fixed import LARGEST, fixed_point
from diprl.export.guard import Guard
from diprl.export.parity import differing
from diprl.export.st import check
from diprl.program import Discrete, Program, parse
from diprl.program.ast import conditions
from tests.export.examples import BLEND, CHAIN, NESTED
from tests.export.misra import ADVISORY, findings
from tests.export.structured_text import run_block
from tests.export.units import step_unit
from tests.node import needs_node
from tests.program.strategies import programs, tame_numbers

RESULTS = Path(__file__).parents[2] / "results" / "programs"
CARTPOLE, LANDER = (Program.load(RESULTS / f"{name}.txt") for name in ("CartPole-v1", "LunarLander-v3"))
WATCHED = {
    CARTPOLE: Guard(1, ((-1.0, 1.0),) * 4, ((-2.0, 2.0),) * 4, ((-4.8, 4.8), (-5.0, 5.0), (-0.42, 0.42), (-6.0, 6.0))),
    LANDER: Guard(0, ((-1.0, 1.0),) * 8, ((-2.0, np.inf),) * 8),
    NESTED: Guard((0.5, -1.0), ((-1.0, 1.0),) * 3),
    CHAIN: Guard(),
    BLEND: Guard((0.1, 0.2, 0.3)),
}
needs_compiler = pytest.mark.skipif(c_check.compiler() is None, reason="no C compiler")
named = pytest.mark.parametrize("program", WATCHED, ids=lambda program: program.task)


def expected(program: Program, samples: Samples) -> tuple[Any, Any]:
    """What a controller has to do, worked out one observation at a time."""
    guard, actions, flags = WATCHED[program], [], []
    bounds = [(feature.low, feature.high) for feature in program.signature.features]
    mixtures: Any = [None] * len(samples) if samples.primitive_actions is None else samples.primitive_actions
    for row, mixed in zip(samples.features, mixtures, strict=True):
        flag = 0 if np.isfinite(row).all() else 1
        for bit, ranges in ((2, bounds), (4, guard.seen), (8, guard.proved)):
            flag += bit * any(value < low or value > high for value, (low, high) in zip(row, ranges, strict=False))
        flags.append(flag)
        actions.append(guard.action(program) if flag & 3 else program.act(row, mixed))
    return np.array(actions), np.array(flags)


@needs_compiler
@named
def test_c_checks_its_input(program: Program, tmp_path: Path) -> None:
    report = export(program, "c", tmp_path, guard=WATCHED[program])
    assert report.agrees, str(report)
    samples = draw(program)
    library = c_check.Library([path for path in report.files if path.suffix == ".c"])
    actions, flags = expected(program, samples)
    assert len(set(flags.tolist())) >= 2
    status = library.functions[f"{structure.prefix(program)}_status"]
    assert [status(row.ctypes.data_as(c_check.ctypes.c_void_p)) for row in samples.features] == flags.tolist()
    if samples.primitive_actions is None:
        assert differing(library.run(program, samples, "control"), actions) == 0
    signature = library.functions[f"{structure.prefix(program)}_signature"]
    signature.restype = c_check.ctypes.c_char_p
    assert signature().decode() == structure.signature(program)


@named
def test_structured_text_checks_its_input(program: Program, tmp_path: Path) -> None:
    report, samples = export(program, "st", tmp_path, guard=WATCHED[program]), draw(program)
    assert report.agrees, str(report)
    found, status = run_block(Written(program, report.files, samples))
    actions, flags = expected(program, samples)
    assert differing(found, actions) == 0
    assert (status == flags).all()
    assert structure.signature(program) in report.files[0].read_text()


@named
def test_an_independent_parser_reads_the_structured_text(program: Program, tmp_path: Path) -> None:
    blark = pytest.importorskip("blark.parse", reason="blark is not installed")
    (file,) = export(program, "st", tmp_path, guard=WATCHED[program]).files
    (found,) = blark.parse(file)
    assert found.exception is None
    assert found.transform().items[0].name == file.read_text().split("FUNCTION_BLOCK ")[1].split()[0]


def test_a_wrong_block_is_noticed(tmp_path: Path) -> None:
    report = export(CHAIN, "st", tmp_path)
    text = report.files[0].read_text()
    report.files[0].write_text(text.replace("- 0.1 > 0.0", "- 0.2 > 0.0"))
    samples = draw(CHAIN)
    assert check(Written(CHAIN, report.files, samples))[0].disagreements > 0


@named
def test_units_step_as_the_interpreter_acts(program: Program, tmp_path: Path) -> None:
    samples = draw(program, random=600, near=300)
    (unit,) = export(program, "fmu", tmp_path, guard=WATCHED[program]).files
    actions, flags = expected(program, samples)
    found, status, signature = step_unit(program, unit, samples)
    assert differing(found, actions) == 0
    assert (status == flags).all()
    assert signature == structure.signature(program)


def test_units_are_the_same_when_made_again(tmp_path: Path) -> None:
    first, second = (export(CHAIN, "fmu", tmp_path / name).files[0].read_bytes() for name in "ab")
    assert first == second


@needs_node
def test_javascript_tells_its_signature(tmp_path: Path) -> None:
    (module,) = export(CHAIN, "js", tmp_path).files
    script = f"import({json.dumps(str(module))}).then((found) => console.log(found.signature))"
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == structure.signature(CHAIN)


@named
def test_no_rule_of_a_required_category_is_broken(program: Program, tmp_path: Path) -> None:
    export(program, "c", tmp_path, guard=WATCHED[program])
    (unit,) = export(program, "fmu", tmp_path, guard=WATCHED[program]).files
    subprocess.run(["python3", "-m", "zipfile", "-e", str(unit), str(tmp_path / "unit")], check=True)
    found = findings([*tmp_path.glob("*.c")]) + findings([tmp_path / "unit" / "sources" / "fmi2.c"])
    assert not [each for each in found if each[0] not in ADVISORY]
    listed = (Path(structure.__file__).parents[1] / "handover" / "templates" / "deviations.md").read_text()
    assert all(f"| {rule} " in listed for rule, _ in found)


def test_the_checker_of_rules_finds_something(tmp_path: Path) -> None:
    (tmp_path / "bad.c").write_text("int f(int a)\n{\n    if (a) return 1;\n    goto end;\nend:\n    return 0;\n}\n")
    rules = {rule for rule, _ in findings([tmp_path / "bad.c"])}
    assert {"15.1", "15.6", "14.4"} <= rules
    assert rules - ADVISORY


@needs_compiler
@pytest.mark.parametrize("program", [CARTPOLE, LANDER], ids=lambda program: program.task)
def test_fixed_point_never_differs_outside_its_margins(program: Program, tmp_path: Path) -> None:
    """1.1 million observations, a tenth of them next to thresholds."""
    guard = WATCHED[program]
    limits = guard.limits or tuple((feature.low, feature.high) for feature in program.signature.features)
    text = "\n".join(f"    f{index} in [{low}, {high}]" for index, (low, high) in enumerate(limits))
    names = ", ".join(program.signature.actions.names)
    bounded = Program(
        parse(f"features:\n{text}\nactions: {names}\n{program.signature.actions.names[0]}").signature, program.root
    )
    samples = draw(bounded, random=1_000_000, near=100_000)
    checks = export(program, "c", tmp_path, samples=samples, guard=guard).checks
    (found,) = [one for one in checks if one.name == "fixed point"]
    assert found.observations > 1_000_000
    assert found.disagreements == 0


@needs_compiler
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_fixed_point_of_random_programs(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    program = data.draw(programs(tame_numbers))
    guard = Guard(limits=tuple((-8.0, 5.0) for _ in program.signature.features))
    if not isinstance(program.signature.actions, Discrete):
        with pytest.raises(DiprlError, match="choose among actions"):
            fixed_point(program, guard)
        return
    fixed = fixed_point(program, guard)
    folder = tmp_path_factory.mktemp("fixed")
    generator = np.random.default_rng(0)
    samples = Samples(generator.uniform(-8.0, 5.0, (2000, len(program.signature.features))), None, None, "")
    checks = export(program, "c", folder, samples=samples, guard=guard).checks
    assert not any(one.disagreements for one in checks if one.name == "fixed point")
    rows = [row for item in conditions(fixed.root) for row in item.weights]
    assert all(abs(weight) <= LARGEST for weight in rows)


def test_margins_are_bounds() -> None:
    """At the worst corner of the ranges the rounded form is off by no more than the margin, in exact arithmetic."""
    fixed, limits = fixed_point(LANDER), [(feature.low, feature.high) for feature in LANDER.signature.features]
    for exact, rounded, margin in zip(conditions(LANDER.root), conditions(fixed.root), fixed.margins, strict=True):
        some = next(index for index, weight in enumerate(rounded.weights) if weight)
        scale = round(np.log2(rounded.weights[some] / exact.weights[some])) + fixed.bits[some]
        for corner in product(*limits):
            point = [
                Fraction(value) + Fraction(1, 2 ** (bits + 1)) for value, bits in zip(corner, fixed.bits, strict=True)
            ]
            inputs = [round(Fraction(value) * 2**bits) for value, bits in zip(corner, fixed.bits, strict=True)]
            value = sum(Fraction(w) * x for w, x in zip(exact.weights, point, strict=True)) + Fraction(exact.bias)
            whole = sum(w * x for w, x in zip(rounded.weights, inputs, strict=True)) + rounded.bias
            assert abs(value - Fraction(whole, 2**scale)) <= Fraction(margin)
        assert margin < 1e-5


def test_why_there_is_no_fixed_point() -> None:
    with pytest.raises(DiprlError, match="cart_velocity has no range"):
        fixed_point(CARTPOLE)
    with pytest.raises(DiprlError, match="outputs that are numbers"):
        fixed_point(NESTED)

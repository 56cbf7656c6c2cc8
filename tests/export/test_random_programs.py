"""Random programs in every language: names, numbers and shapes that nobody would think of."""

import ctypes
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from diprl.export import c, c_check, draw, export
from diprl.export.c_types import SINGLE, number_types
from diprl.export.parity import act_single, differing
from diprl.program import Discrete, Feature, Program, Signature, parse
from tests.program.strategies import extreme_numbers, programs, tame_numbers

AWKWARD = ["int", "float", "class", "lambda", "NULL", "INFINITY", "FLT_MAX", "isfinite", "linux", "_x", "__y"]
AWKWARD += ["x", "X", "features", "action", "None", "math", "observation", "real", "end_if"]
either = st.sampled_from([extreme_numbers, tame_numbers]).flatmap(programs)
EXACT = ("-std=gnu17", "-O3", "-march=native", "-ffp-contract=fast")
"""What a careless user might compile with; the emitted code must not fuse products all the same."""


def awkward(program: Program, names: list[str]) -> Program:
    """The same program with features named by words that mean something elsewhere."""
    features = tuple(replace(f, name=n) for f, n in zip(program.signature.features, names, strict=False))
    return Program(replace(program.signature, features=features), program.root, program.task)


@settings(max_examples=40)
@given(either, st.permutations(AWKWARD), st.sampled_from(["python", "js", "st", "json"]))
def test_interpreted_targets(program: Program, names: list[str], target: str) -> None:
    program = awkward(program, names)
    with TemporaryDirectory() as folder:
        report = export(program, target, folder, samples=draw(program, random=100, near=100))
        assert report.agrees, str(report)


@pytest.mark.skipif(c_check.compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("flags", [c_check.FLAGS, EXACT], ids=["strict", "fused"])
@settings(
    max_examples=2,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)
@given(batch=st.lists(st.tuples(either, st.permutations(AWKWARD)), min_size=12, max_size=12))
def test_compiled_batches(batch: list[tuple[Program, list[str]]], flags: tuple[str, ...]) -> None:
    chosen = [replace(awkward(program, names), task=f"task {n}") for n, (program, names) in enumerate(batch)]
    with TemporaryDirectory() as folder:
        library = c_check.Library([_write(program, Path(folder)) for program in chosen], flags)
    for program in chosen:
        samples = draw(program, random=100, near=200)
        name = "play" if samples.primitive_actions is None else "blend"
        expected = program.act_batch(samples.features, samples.primitive_actions)
        assert differing(library.run(program, samples, name), expected) == 0, str(program)
        if SINGLE in number_types(program):
            found = library.run(program, samples, name, SINGLE)
            assert differing(found, act_single(program, samples)) == 0, str(program)


@settings(max_examples=40)
@given(either)
def test_drawings_do_not_overlap(program: Program) -> None:
    root = ElementTree.fromstring(program.to_svg())
    boxes = [
        tuple(float(box.attrib[key]) for key in ("x", "y", "width", "height"))
        for box in root.iter("{http://www.w3.org/2000/svg}rect")
    ]
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for number, (x, y, w, h) in enumerate(boxes):
        assert min(x, y) >= 0 and x + w <= width + 1 and y + h <= height + 1  # noqa: PT018
        for other_x, other_y, other_w, other_h in boxes[:number]:
            apart = x + w <= other_x or other_x + other_w <= x or y + h <= other_y or other_y + other_h <= y
            assert apart


@settings(max_examples=40)
@given(either)
def test_formulas_are_balanced(program: Program) -> None:
    lines = program.to_latex(standalone=True).splitlines()
    text = "\n".join(line for line in lines if not line.startswith("%")).replace(r"\{", "").replace(r"\}", "")
    assert text.count("{") == text.count("}")
    for environment in ("cases", "array", "document"):
        assert text.count(rf"\begin{{{environment}}}") == text.count(rf"\end{{{environment}}}")


def test_status_flags(tmp_path: Path) -> None:
    if c_check.compiler() is None:
        pytest.skip("no C compiler")
    program = parse("task: flags\nfeatures: x in [-1, 1], y in [-inf, 3]\nactions: a\na")
    library = c_check.Library([_write(program, tmp_path)])
    rows = np.array([[0.0, 0.0], [np.nan, 0.0], [2.0, -1e9], [0.0, np.inf], [-1.0, 3.0]])
    status = [library.functions.flags_program_status(row.ctypes.data_as(ctypes.c_void_p)) for row in rows]
    assert status == [0, 1, 2, 3, 0]


def test_numbers_beyond_single_precision_leave_the_float_variant_out(tmp_path: Path) -> None:
    program = parse("features: x\nactions: a, b\nif 1e300*x > 0: a\nelse: b")
    report = export(program, "c", tmp_path)
    assert report.agrees
    assert "float" not in report.files[0].read_text().replace("float.h", "")
    if c_check.compiler() is not None:
        assert "does not fit into 32 bits" in str(report)


def test_python_nesting_is_limited_with_a_clear_error() -> None:
    text = "".join("    " * level + "if x > 0:\n" for level in range(150))
    text += "    " * 150 + "a\n" + "".join("    " * level + "else: b\n" for level in reversed(range(150)))
    program = parse(text, Signature((Feature("x"),), Discrete(("a", "b"))))
    with pytest.raises(Exception, match="Python allows 90"):
        program.to_python()
    assert program.to_c().count("if ((in_x) > 0.0)") == 150


def _write(program: Program, folder: Path) -> Path:
    rendered = c.render(program)
    for name, text in rendered.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / next(name for name in rendered if name.endswith(".c"))

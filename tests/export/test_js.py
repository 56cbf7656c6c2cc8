"""The language in JavaScript against the one in Python: same texts, same errors, same actions."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from diprl.errors import ProgramError
from diprl.export import c_check, draw, export
from diprl.export.js import language
from diprl.program import Program, parse
from diprl.program.tokens import ProgramSyntaxError
from tests.export.examples import BLEND, CHAIN, EXAMPLES, NESTED
from tests.node import needs_node, run_node
from tests.program.strategies import extreme_numbers, programs, tame_numbers

pytestmark = needs_node
REPOSITORY = Path(__file__).parent.parent.parent
PRINT = """
const result = given.map((text) => {
  const program = parseProgram(text);
  return [formatProgram(program), formatJson(program), program.items.length];
});
"""
ERRORS = """
const result = given.map((text) => {
  try { parseProgram(text); return null; }
  catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    const { line, column, expected, found, message } = error;
    return error instanceof ProgramSyntaxError ? [line, column, expected, found] : [message];
  }
});
"""
HEAD = "features: x, y, s_is_1, s_is_2\nactions: a, b\n"
SETS_GONE_WRONG = (
    "s in {3}",
    "s in {}",
    "s in {1",
    "s in {1 2}",
    "s in 1",
    "s not {1}",
    "t in {1}",
    "s in {01}",
    "s > 1",
)
MISTAKES = [
    "if x > 0:\n    a\n",
    "if x >= 0:\n    a\nelse:\n    b\n",
    "if x + > 0:\n    a\nelse:\n    b\n",
    "if x*y > 0:\n    a\nelse:\n    b\n",
    "if x/0 > 0:\n    a\nelse:\n    b\n",
    "if 3x > 0:\n    a\nelse:\n    b\n",
    "if zz > 0:\n    a\nelse:\n    b\n",
    "if 1e999*x > 0:\n    a\nelse:\n    b\n",
    "if x > 0:\na\nelse:\n    b\n",
    "if x > 0:\n\ta\n  else:\n    b\n",
    "if x > 0:\n    c\nelse:\n    b\n",
    "if x > 0: a\nelse: b\nb\n",
    "if x > 0\n    a\nelse:\n    b\n",
    "elif x > 0: a\n",
    f"if {'(' * 50}x{')' * 50} > 0: a\nelse: b",
    "if x > 0:\n    a\nelse:\n    if y > 0:\n        b\n    else:\n        a b\n",
    "",
    *(f"if {test}: a\nelse: b\n" for test in SETS_GONE_WRONG),
]
WRONG_HEADS = [
    "features: x, x\nactions: a",
    "features: if\nactions: a",
    "features: x in [2, 1]\nactions: a",
    "features: x\n",
    "feature: x\nactions: a",
    "task: t\ntask: u",
]


def longest_chain() -> Program:
    lines = "".join(f"{'el' if index else ''}if x > {index}: {'ab'[index % 2]}\n" for index in range(10_000))
    return parse(f"{HEAD}{lines}else: a\n")


@settings(max_examples=2, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from([extreme_numbers, tame_numbers]).flatmap(programs), min_size=15, max_size=15))
def test_prints_what_python_prints(tmp_path_factory: pytest.TempPathFactory, batch: list[Program]) -> None:
    found = run_node(language() + PRINT, [str(program) for program in batch], tmp_path_factory.mktemp("node"))
    for program, (text, json_text, _) in zip(batch, found, strict=True):
        assert parse(text) == program
        # Which characters need quotes depends on the version of Unicode that a language knows.
        assert text == str(program) or not text.isascii()
        assert json_text == program.to_json()


def test_prints_the_programs_of_the_repository(tmp_path: Path) -> None:
    texts = [str(Program.load(path)) for path in sorted((REPOSITORY / "results").glob("*/*.txt"))]
    assert len(texts) > 10
    found = run_node(language() + PRINT, texts, tmp_path)
    assert [text for text, _, _ in found] == texts


def test_long_chains_are_read_and_printed(tmp_path: Path) -> None:
    text = str(longest_chain())
    assert run_node(language() + PRINT, [text], tmp_path)[0][::2] == [text, 20_001]


def test_mistakes_are_found_where_python_finds_them(tmp_path: Path) -> None:
    found = run_node(language() + ERRORS, [HEAD + text for text in MISTAKES], tmp_path)
    for text, complaint in zip(MISTAKES, found, strict=True):
        with pytest.raises(ProgramError) as caught:
            parse(HEAD + text)
        error = caught.value
        assert isinstance(error, ProgramSyntaxError)
        assert complaint == [error.line, error.column, error.expected, error.found], text


@pytest.mark.parametrize("head", WRONG_HEADS)
def test_wrong_heads_are_refused(head: str, tmp_path: Path) -> None:
    with pytest.raises(ProgramError):
        parse(f"{head}\na\n")
    assert run_node(language() + ERRORS, [f"{head}\na\n"], tmp_path)[0] is not None


@pytest.mark.parametrize("program", EXAMPLES, ids=lambda program: program.task)
def test_no_decision_differs(program: Program, tmp_path: Path) -> None:
    """Over a million observations in all, a third of them on a threshold or within a few floats of it."""
    samples = draw(program, random=240_000, near=130_000, seed=7)
    (check,) = export(program, "js", tmp_path, samples=samples).checks
    assert check.observations > 367_000
    assert check.disagreements == 0


@pytest.mark.skipif(c_check.compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("program", [CHAIN, NESTED, BLEND], ids=lambda program: program.task)
def test_the_plain_c_acts_alike(program: Program, tmp_path: Path) -> None:
    (text,) = run_node(
        language() + "const result = given.map((text) => formatC(parseProgram(text)));", [str(program)], tmp_path
    )
    (tmp_path / "play.c").write_text(text)
    samples = draw(program, random=300, near=300)
    inputs = [samples.features] if samples.primitive_actions is None else [samples.features, samples.primitive_actions]
    rows = np.concatenate([each.reshape(len(samples), -1) for each in inputs], axis=1)
    expected = program.act_batch(*inputs).reshape(len(samples), -1)
    (tmp_path / "main.c").write_text(C_MAIN.format(*_signature(program), rows.shape[1], expected.shape[1]))
    command = [c_check.compiler(), *c_check.FLAGS, "-ffp-contract=off", "main.c", "-o", "main", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)  # type: ignore[arg-type]
    done = subprocess.run([tmp_path / "main"], input=rows.tobytes(), capture_output=True, check=True)
    np.testing.assert_array_equal(np.frombuffer(done.stdout).reshape(len(samples), -1), expected)


C_MAIN = """#include <stdio.h>
#include "play.c"
int main(void)
{{
    double row[{2}], action[{3}];
    while (fread(row, sizeof(double), {2}, stdin) == {2}) {{
        {0}play(row{1});
        fwrite(action, sizeof(double), {3}, stdout);
    }}
    return 0;
}}
"""


def _signature(program: Program) -> tuple[str, str]:
    if program is CHAIN:
        return "action[0] = ", ""
    return "", f", row + {len(program.signature.features)}, action" if program is BLEND else ", action"

"""Change the source in one small place at a time and see whether the tests notice.

A mutant is a comparison, an operator, a number, a name of a truth value or a branch that is turned into another. Those
tests of its room that execute its line are run on a copy of the source, the quickest first and for at most fifteen
seconds, until the first failure; a mutant that hangs counts as noticed. Mutants that survive are printed: a line that
no test holds, or one that does not matter.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from copy import deepcopy
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import coverage
import pytest
from rows import record

ROOT = Path(__file__).parents[2]
TESTS = {"program": ["tests/program"], "extract.py": ["tests/test_extract.py"], "verify": ["tests/verify"]}
"""Parts of src/diprl, and the tests that should notice changes there."""
PYTEST = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
MOST_SECONDS, TIME_LIMIT = 15.0, 90.0
"""How long the chosen tests take on the source as it is; when a mutant counts as hanging."""
COMPARISONS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS: dict[type, type] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult}


class Mutant(NamedTuple):
    part: str
    path: Path
    lines: range
    """Of the statement, up to the place that is changed."""
    change: str
    source: str


class Trace:
    """A pytest plugin that notes which lines each test executes, and how long it takes."""

    def __init__(self, place: Path) -> None:
        self.coverage, self.seconds = coverage.Coverage(data_file=None, source=[str(place)]), dict[str, float]()

    def pytest_sessionstart(self) -> None:
        self.coverage.start()

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.coverage.switch_context(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration

    def lines(self) -> dict[str, dict[int, list[str]]]:
        self.coverage.stop()
        data = self.coverage.get_data()
        return {path: dict(data.contexts_by_lineno(path)) for path in data.measured_files()}


def trace(part: str, place: Path) -> None:
    """Run the tests of a part, and print what they execute as the last line."""
    plugin = Trace(place)
    if pytest.main([*PYTEST, *TESTS[part]], plugins=[plugin]):
        sys.exit(f"the tests of {part} fail without any change")
    print(json.dumps([plugin.lines(), plugin.seconds]))


class Tests:
    """Which tests of a part execute a line."""

    def __init__(self, part: str, place: Path) -> None:
        command = [sys.executable, __file__, "--trace", part, "--place", str(place)]
        done = subprocess.run(command, cwd=ROOT, env=environment(place), capture_output=True, text=True, check=True)
        found, self.seconds = json.loads(done.stdout.splitlines()[-1])
        self.lines = {
            (str(Path(path).relative_to(place)), int(line)): set(tests)
            for path, lines in found.items()
            for line, tests in lines.items()
        }

    def of(self, mutant: Mutant) -> list[str]:
        """The quickest first. A line that is executed on import concerns every test that enters the file."""
        path = str(mutant.path)
        found = self.union(self.lines.get((path, line), set()) for line in mutant.lines)
        if "" in found:
            found = self.union(tests for (file, _), tests in self.lines.items() if file == path)
        tests = sorted(found - {""}, key=lambda test: self.seconds[test])
        total = accumulate(self.seconds[test] for test in tests)
        return [test for test, seconds in zip(tests, total, strict=True) if seconds <= MOST_SECONDS] or tests[:1]

    def union(self, sets: Iterable[set[str]]) -> set[str]:
        return set[str]().union(*sets)


def environment(place: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1", "CI": "1"}


def changed(node: ast.AST) -> str | None:
    """Change a node of a copy in place, and say how; None where there is nothing to change."""
    match node:
        case ast.Compare(ops=[only]) if type(only) in COMPARISONS:
            node.ops = [COMPARISONS[type(only)]()]
        case ast.BinOp(op=operator) if type(operator) in OPERATORS:
            node.op = OPERATORS[type(operator)]()
        case ast.BoolOp(op=operator):
            node.op = ast.Or() if isinstance(operator, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not()):
            node.op = ast.UAdd()
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value) | float(value)):
            node.value = value + 1
        case ast.If(test=test) | ast.IfExp(test=test):
            node.test = ast.UnaryOp(ast.Not(), test)
        case _:
            return None
    return type(node).__name__


def places(tree: ast.AST) -> list[int]:
    """Which nodes, counted as `ast.walk` meets them, can be changed."""
    return [index for index, node in enumerate(ast.walk(deepcopy(tree))) if changed(node)]


def draw(part: str, dice: random.Random) -> Mutant:
    root = ROOT / "src" / "diprl" / part
    files = [root] if root.is_file() else sorted(path for path in root.rglob("*.py") if path.stat().st_size > 400)
    while True:
        path = dice.choices(files, [file.stat().st_size for file in files])[0]
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if not (found := places(tree)):
            continue
        node: ast.AST = list(ast.walk(tree))[dice.choice(found)]
        lines, before = lines_of(node, tree), ast.unparse(node).split("\n")[0][:80]
        changed(node)
        after = ast.unparse(ast.fix_missing_locations(node)).split("\n")[0][:80]
        return Mutant(part, path.relative_to(ROOT / "src"), lines, f"{before}  →  {after}", ast.unparse(tree))


def lines_of(node: ast.AST, tree: ast.AST) -> range:
    """From the first line of the innermost statement around a node to the node's own."""
    around = [each.lineno for each in ast.walk(tree) if isinstance(each, ast.stmt) and node in ast.walk(each)]
    line = getattr(node, "lineno", max(around))
    return range(min(line, max(around)), line + 1)  # a decorator lies before its statement


def fate(mutant: Mutant, place: Path, tests: list[str]) -> str:
    """Noticed by a failing test, by its hanging, or survived."""
    if not tests:
        return "survived"
    target = place / mutant.path
    original = target.read_text(encoding="utf-8")
    target.write_text(mutant.source, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", *PYTEST, *tests]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment(place), capture_output=True, timeout=TIME_LIMIT, check=False
        )
        return "survived" if done.returncode == 0 else "noticed"
    except subprocess.TimeoutExpired:
        return "hung"
    finally:
        target.write_text(original, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trace", choices=TESTS, help=argparse.SUPPRESS)
    parser.add_argument("--place", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.trace:
        trace(options.trace, options.place)
        return
    dice, fates = random.Random(options.seed), Counter[str]()
    with tempfile.TemporaryDirectory() as home:
        place = Path(home)
        shutil.copytree(ROOT / "src" / "diprl", place / "diprl", ignore=shutil.ignore_patterns("__pycache__"))
        tests = {part: Tests(part, place) for part in TESTS}
        for number in range(options.mutants):
            mutant = draw(dice.choices(list(TESTS), [5, 1, 5])[0], dice)
            found = fate(mutant, place, tests[mutant.part].of(mutant))
            fates.update([found, f"{mutant.part} {'survived' if found == 'survived' else 'noticed'}"])
            if found == "survived":
                print(f"{number}: survived: {mutant.path}:{mutant.lines[-1]}: {mutant.change}", flush=True)
    noticed = fates["noticed"] + fates["hung"]
    rates = [
        f"{part} {fates[f'{part} noticed'] / max(1, fates[f'{part} noticed'] + fates[f'{part} survived']):.0%}"
        for part in TESTS
    ]
    note = f"{noticed / options.mutants:.0%} noticed: {', '.join(rates)}"
    record("mutants of the source", f"{options.mutants}", "–", "–", note)


if __name__ == "__main__":
    main()

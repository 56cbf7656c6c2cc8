"""Change the source in one small place at a time and see whether the tests notice.

A mutant is a comparison, an operator, a number, a name of a truth value or a branch that is turned into another. The
tests of its room alone are run on a copy of the source, until the first failure and within a time limit; a mutant that
hangs counts as noticed. Mutants that survive are printed: a line that no test holds, or one that does not matter.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from rows import record

ROOT = Path(__file__).parents[2]
TESTS = {"program": ["tests/program"], "extract.py": ["tests/test_extract.py"], "verify": ["tests/verify"]}
"""Parts of src/diprl, and the tests that should notice changes there."""
TIME_LIMIT = 300.0
COMPARISONS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS: dict[type, type] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult}


class Mutant(NamedTuple):
    part: str
    path: Path
    line: int
    change: str
    source: str


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
        node = list(ast.walk(tree))[dice.choice(found)]
        line, before = getattr(node, "lineno", 0), ast.unparse(node).split("\n")[0][:80]
        changed(node)
        after = ast.unparse(ast.fix_missing_locations(node)).split("\n")[0][:80]
        return Mutant(part, path.relative_to(ROOT / "src"), line, f"{before}  →  {after}", ast.unparse(tree))


def fate(mutant: Mutant, place: Path) -> str:
    """Noticed by a failing test, by its hanging, or survived."""
    target = place / mutant.path
    original = target.read_text(encoding="utf-8")
    target.write_text(mutant.source, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        *TESTS[mutant.part],
    ]
    environment = os.environ | {"PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1", "CI": "1"}
    try:
        done: Any = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=TIME_LIMIT, check=False
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
    options = parser.parse_args()
    dice, fates = random.Random(options.seed), Counter[str]()
    with tempfile.TemporaryDirectory() as home:
        place = Path(home)
        shutil.copytree(ROOT / "src" / "diprl", place / "diprl", ignore=shutil.ignore_patterns("__pycache__"))
        for part in TESTS:
            whole = (ROOT / "src" / "diprl" / part) if part.endswith(".py") else None
            unchanged = Mutant(part, Path("diprl") / (part if whole else f"{part}/__init__.py"), 0, "", "")
            source = (place / unchanged.path).read_text(encoding="utf-8")
            if fate(unchanged._replace(source=source), place) != "survived":
                sys.exit(f"the tests of {part} fail or take too long without any change")
        for number in range(options.mutants):
            mutant = draw(dice.choices(list(TESTS), [5, 1, 5])[0], dice)
            found = fate(mutant, place)
            fates.update([found, f"{mutant.part} {'survived' if found == 'survived' else 'noticed'}"])
            if found == "survived":
                print(f"{number}: survived: {mutant.path}:{mutant.line}: {mutant.change}", flush=True)
    noticed = fates["noticed"] + fates["hung"]
    rates = [
        f"{part} {fates[f'{part} noticed'] / max(1, fates[f'{part} noticed'] + fates[f'{part} survived']):.0%}"
        for part in TESTS
    ]
    note = f"{noticed / options.mutants:.0%} noticed: {', '.join(rates)}"
    record("mutants of the source", f"{options.mutants}", "–", "–", note)


if __name__ == "__main__":
    main()

"""What the page computes about a program, against the interpreter: regions, flips, edits and differences."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diprl.export.js import language
from diprl.program import Act, Condition, Discrete, Feature, If, Node, Program, Signature
from diprl.report.draw import asset
from tests.node import needs_node, run_node

pytestmark = needs_node
SIGNATURE = Signature(tuple(map(Feature, "xyz")), Discrete(("stay", "go", "turn")))
PARTS = ("view", "edits", "explain", "regions")
REGIONS = """
const result = given.map(([text, state, plane]) => {
  const { items } = parseProgram(text), numbers = branchPlaces(items);
  const told = ([place, polygon]) => [numbers.indexOf(place), polygonArea(polygon), polygon];
  return regionsOf(items, state, plane).map(told);
});
"""
FLIPS = """
const result = given.map(([text, state]) => flips(parseProgram(text), state, [1, 1, 1], [false, false, false])
  .map(({ feature, change, terminal }) => [feature, change, terminal.action]));
"""
EDITS = """
const result = given.map((text) => {
  const program = parseProgram(text), { items } = program;
  const printed = (changed) => formatProgram({ ...program, items: effective(changed).items });
  return items.flatMap((item, place) => {
    if (items.length === 1) return [];
    if (!isCondition(item)) return [["without branch", place, printed(withoutBranch(items, place))]];
    const off = switched(items, place);
    return [
      ["off", place, printed(off)], ["on", place, printed(switched(off, place))],
      ["removed", place, printed(withoutCondition(items, place))], ["copied", place, printed(copied(items, place))],
      ["moved", place, below(items, place) === null ? "" : printed(movedDown(movedDown(items, place), place))],
    ];
  });
});
"""
DIFFERENCES = "const result = given.map(([before, after]) => lineDiff(before, after));"


def run(script: str, given: Any, folder: Path) -> Any:
    parts = "\n".join(asset(f"page/{name}.js") for name in PARTS)
    return run_node(f"{language()}\n{parts}\n{script}", given, folder)


def random_root(generator: random.Random, leaves: int) -> Node:
    if leaves == 1:
        return Act(generator.randrange(3))
    numbers = [round(generator.uniform(-2, 2), 2) * (generator.random() < 0.7) for _ in range(4)]
    left = generator.randrange(1, leaves)
    condition = Condition(tuple(numbers[:3]), numbers[3])
    return If(condition, random_root(generator, left), random_root(generator, leaves - left))


def random_programs(count: int, seed: int) -> list[Program]:
    generator = random.Random(seed)
    return [Program(SIGNATURE, random_root(generator, generator.randrange(1, 7))) for _ in range(count)]


@pytest.mark.parametrize("up", [1, None])
def test_regions_are_where_the_interpreter_says(up: int | None, tmp_path: Path) -> None:
    programs, generator = random_programs(200, 1), np.random.default_rng(1)
    states = generator.uniform(-2, 2, (len(programs), 3)).round(2).tolist()
    plane = [[0, -1, 1], [1, -1, 1]][: 1 if up is None else 2]
    given = [[str(program), state, plane] for program, state in zip(programs, states, strict=True)]
    for program, state, found in zip(programs, states, run(REGIONS, given, tmp_path), strict=True):
        assert sum(area for _, area, _ in found) == pytest.approx(2.0 if up is None else 4.0)
        for number, area, polygon in found:
            if area > 1e-6:
                x, y = np.mean(polygon, axis=0)
                assert program.branch_batch([[x, state[1] if up is None else y, state[2]]])[0] == number


def test_a_long_chain_is_cut_into_regions(tmp_path: Path) -> None:
    root: Node = Act(0)
    for index in range(2_000):
        root = If(Condition((0.0, 1.0, 0.0), index / 2_000 - 0.5), Act(index % 2), root)
    given = [[str(Program(SIGNATURE, root)), [0, 0, 0], [[1, -1, 1], [2, -1, 1]]]]
    (found,) = run(REGIONS, given, tmp_path)
    assert sum(area for _, area, _ in found) == pytest.approx(4.0)


def test_the_smallest_changes_are_those_that_python_finds(tmp_path: Path) -> None:
    programs, states = random_programs(200, 2), np.random.default_rng(2).uniform(-2, 2, (200, 3)).tolist()
    given = [[str(program), state] for program, state in zip(programs, states, strict=True)]
    found = run(FLIPS, given, tmp_path)
    assert sum(map(len, found)) > 200
    for program, state, changes in zip(programs, states, found, strict=True):
        expected = program.explain(state).single
        told = [("xyz"[feature], SIGNATURE.actions.names[action]) for feature, _, action in changes]
        assert told == [(each.changes[0][0], each.action) for each in expected]
        sizes = [change for _, change, _ in changes]
        assert sizes == pytest.approx([each.changes[0][1] for each in expected], abs=1e-9)


def test_edits_are_what_python_makes_of_them(tmp_path: Path) -> None:
    programs = random_programs(60, 3)
    for program, edits in zip(programs, run(EDITS, [str(program) for program in programs], tmp_path), strict=True):
        paths = node_paths(program.root)
        for kind, place, text in edits:
            changed = Program.from_text(text) if text else program
            if kind in ("off", "removed"):
                assert changed == program.edit(f"{paths[place]}.then", prune=True)
            elif kind == "without branch":
                assert changed == program.edit(paths[place], prune=True)
            elif kind in ("on", "moved"):
                assert changed == program  # there and back again
            else:
                states = np.random.default_rng(0).uniform(-2, 2, (200, 3))
                assert changed.conditions > program.conditions
                assert (changed.act_batch(states) == program.act_batch(states)).all()


def node_paths(root: Node) -> list[str]:
    """The path of every node in printing order."""
    found, stack = [], [(root, "")]
    while stack:
        node, path = stack.pop()
        found.append(path)
        if isinstance(node, If):
            stack += [(node.orelse, f"{path}.else".strip(".")), (node.then, f"{path}.then".strip("."))]
    return found


def test_differences_hold_both_texts(tmp_path: Path) -> None:
    generator = random.Random(4)
    pairs = [[[generator.choice("abcd") for _ in range(generator.randrange(12))] for _ in range(2)] for _ in range(200)]
    for (before, after), rows in zip(pairs, run(DIFFERENCES, pairs, tmp_path), strict=True):
        assert [line for sign, line in rows if sign != "+"] == before
        assert [line for sign, line in rows if sign != "-"] == after
    assert run(DIFFERENCES, [[["a", "b", "c"], ["a", "x", "c"]]], tmp_path)[0] == [
        [" ", "a"],
        ["-", "b"],
        ["+", "x"],
        [" ", "c"],
    ]

"""Every way of walking a program, on a nested one and on a chain that no recursion survives."""

from itertools import islice

import pytest

from diprl.program import Act, Condition, Discrete, Feature, If, Node, Program, Signature, parse
from diprl.program.ast import (
    assemble,
    conditions,
    depth,
    flatten,
    fold,
    is_chain,
    merge_branches,
    nesting,
    terminals,
    walk,
)
from diprl.program.evaluate import path_at
from diprl.program.paths import condition_paths, leaf_paths, statements
from diprl.search.digits import rounded
from diprl.search.smaller import merged

LENGTH = 10_000
SIGNATURE = Signature((Feature("x"),), Discrete(("a", "b", "c")))
NESTED = parse("if x > 3:\n  if x > 5: a\n  else: b\nelif x > 1:\n  if x > 2: c\n  else: a\nelse: b", SIGNATURE)


def long_chain() -> Node:
    node: Node = Act(2)
    for level in range(LENGTH):
        node = If(Condition((1.0,), float(level - LENGTH)), Act(level % 2), node)
    return node


CHAIN = Program(SIGNATURE, long_chain())


def biases(path) -> list[tuple[int, float, bool]]:
    return [(decision.number, decision.condition.bias, decision.holds) for decision in path]


def test_leaf_paths_of_a_nested_program() -> None:
    found = [(leaf.action, biases(path)) for leaf, path in leaf_paths(NESTED.root) if isinstance(leaf, Act)]
    assert found == [
        (0, [(0, -3.0, True), (1, -5.0, True)]),
        (1, [(0, -3.0, True), (1, -5.0, False)]),
        (2, [(0, -3.0, False), (2, -1.0, True), (3, -2.0, True)]),
        (0, [(0, -3.0, False), (2, -1.0, True), (3, -2.0, False)]),
        (1, [(0, -3.0, False), (2, -1.0, False)]),
    ]


def test_condition_paths_are_paths_of_edits() -> None:
    steps = [[decision.branch for decision in path] for path in condition_paths(NESTED.root)]
    assert steps == [[], ["then"], ["else"], ["else", "then"]]


def test_shapes() -> None:
    assert (depth(NESTED.root), nesting(NESTED.root), is_chain(NESTED.root)) == (4, 2, False)
    assert (depth(CHAIN.root), nesting(CHAIN.root), is_chain(CHAIN.root)) == (LENGTH + 1, 1, True)
    assert is_chain(Act(0))


@pytest.mark.parametrize("returning", [False, True])
def test_statements_hold_every_condition_and_leaf_in_order(returning: bool) -> None:
    lines = list(statements(NESTED.root, returning))
    assert [line.condition for line in lines if line.condition] == conditions(NESTED.root)
    assert [line.leaf for line in lines if line.leaf] == terminals(NESTED.root)
    kinds = [line.kind for line in lines]
    assert kinds.count("end") == (4 if returning else 3)
    assert max(line.indent for line in statements(CHAIN.root, returning)) == 1


@pytest.mark.parametrize("program", [NESTED, CHAIN], ids=["nested", "chain"])
def test_flattening_keeps_the_tree(program: Program) -> None:
    again = assemble(flatten(program.root))
    assert again == program.root
    assert hash(again) == hash(program.root)
    assert merge_branches(program.root) == program.root
    assert fold(flatten(program.root), lambda _: 1, lambda _, then, orelse: then + orelse) == len(
        terminals(program.root)
    )
    assert parse(str(program)) == Program.from_json(program.to_json()) == program


def test_trees_that_differ_are_not_equal() -> None:
    assert NESTED.root != NESTED.edit("else.then.then", replace="b").root
    assert NESTED.root != Act(0)
    assert If(Condition((1.0,), 0.0), CHAIN.root, Act(0)) != If(Condition((1.0,), 0.0), Act(0), CHAIN.root)


def test_branches_that_are_long_and_equal_are_merged() -> None:
    assert merged(Program(SIGNATURE, If(Condition((1.0,), 0.0), CHAIN.root, long_chain()))) == CHAIN


def test_long_chains_survive_everything() -> None:
    assert len(list(walk(CHAIN.root))) == 2 * LENGTH + 1
    assert len(path_at(CHAIN.root, [-1.0])[0]) == LENGTH
    assert max(len(path) for _, path in islice(leaf_paths(CHAIN.root), LENGTH, None)) == LENGTH
    assert sum(1 for _ in islice(condition_paths(CHAIN.root), 500)) == 500
    assert CHAIN.rounded(2).conditions == LENGTH
    assert CHAIN.edit(["else"] * LENGTH, replace="a").act([-1.0]) == 0
    for text in (CHAIN.to_python(), CHAIN.to_c(), CHAIN.to_st(), CHAIN.to_latex(), CHAIN.to_svg()):
        assert len(text) > LENGTH


def test_rounding_conditions_one_by_one() -> None:
    program = parse("if 2*x > 1: a\nelif 3*x > 2: b\nelse: c", SIGNATURE)
    assert str(rounded(program, 1)).endswith("if x - 0.5 > 0:\n    a\nelif x - 0.7 > 0:\n    b\nelse:\n    c\n")

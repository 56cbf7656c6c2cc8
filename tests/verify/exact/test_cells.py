"""Walking a program's branches: numbers as printed, values along the path, nothing behind closed branches."""

from diprl.program import Act, Condition, If, parse
from diprl.program.ast import terminals
from diprl.verify.exact.cells import leaves_along
from tests.verify.examples import PLANE


def test_leaves_come_as_printed_with_what_their_path_made() -> None:
    root = parse("if x > 0:\n    if y > 0: go\n    else: turn\nelif y > 1: stop\nelse: go", PLANE).root
    found = list(leaves_along(root, "", lambda path, _, holds: path + "-+"[holds]))
    assert [path for _, _, path in found] == ["++", "+-", "-+", "--"]
    assert [leaf for _, leaf, _ in found] == terminals(root)


def test_branches_that_cannot_be_entered_are_counted_only() -> None:
    root = parse("if x > 0:\n    if y > 0: go\n    else: turn\nelif y > 1: stop\nelse: go", PLANE).root
    found = leaves_along(root, 0, lambda depth, _, holds: None if holds and depth == 0 else depth + 1)
    assert [number for number, _, _ in found] == [2, 3]


def test_a_long_chain_is_no_deeper_than_a_short_one() -> None:
    chain: If | Act = Act(0)
    for number in range(20_000):
        chain = If(Condition((1.0,), float(number)), Act(1), chain)
    depths = [depth for _, _, depth in leaves_along(chain, 0, lambda depth, _, _holds: depth + 1)]
    assert depths == [*range(1, 20_001), 20_000]

"""Where a branch acts, in as few conditions as say it."""

from collections.abc import Callable, Sequence

from diprl.program.ast import Condition, Node, terminals
from diprl.verify.context import Context, leaf_text
from diprl.verify.exact.linear import Box, Constraint, all_text, of_condition
from diprl.verify.exact.walk import leaves_along

_READABLE = 16
"""More regions than this are counted, not listed."""


def path_to(root: Node, number: int) -> list[Constraint]:
    """What holds in a branch, counted in the order in which branches are printed."""

    def turn(before: tuple, condition: Condition, holds: bool) -> tuple:
        return before, condition, holds

    path = next(path for leaf, _, path in leaves_along(root, (), turn) if leaf == number)
    found = []
    while path:
        path, condition, holds = path
        found.append(of_condition(condition, holds))
    return found[::-1]


def regions_text(
    context: Context,
    box: Box,
    numbers: Sequence[int],
    more: Callable[[int, Sequence[Constraint]], str] = lambda _number, _where: "",
) -> list[str]:
    """What some branches do and where, and `more` about each, unless they are too many to read."""
    if len(numbers) > _READABLE:
        return [f"{len(numbers)} branches act in the box"]
    found = []
    for number in numbers:
        where = _region(context, box, number)
        found.append(f"{branch_text(context, number, where)}{more(number, where)}")
    return found


def branch_text(context: Context, number: int, where: Sequence[Constraint]) -> str:
    """What a branch does, and `where …` or `everywhere`."""
    action = leaf_text(context.program, terminals(context.program.root)[number])
    return f"{action} {where_text(context, where)}"


def where_text(context: Context, constraints: Sequence[Constraint]) -> str:
    return f"where {all_text(constraints, context.names)}" if constraints else "everywhere"


def _region(context: Context, box: Box, number: int) -> list[Constraint]:
    """The conditions of a branch that do not follow from the others and the box."""
    needed = path_to(context.program.root, number)
    for constraint in list(needed):
        others = [other for other in needed if other is not constraint]
        if not context.question(box, *others, constraint.negated()).feasible():
            needed = others
    return needed

"""Where a branch acts, in as few conditions as say it."""

from collections.abc import Sequence

from diprl.program.ast import Condition, Node, terminals
from diprl.verify.context import Context, leaf_text
from diprl.verify.exact.box import Box
from diprl.verify.exact.constraint import Constraint, all_text, of_condition
from diprl.verify.exact.walk import leaves_along

READABLE = 16
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


def region(context: Context, box: Box, number: int) -> list[Constraint]:
    """The conditions of a branch that do not follow from the others and the box."""
    needed = path_to(context.program.root, number)
    for constraint in list(needed):
        others = [other for other in needed if other is not constraint]
        if not context.question(box, *others, constraint.negated()).feasible():
            needed = others
    return needed


def regions_text(context: Context, box: Box, numbers: Sequence[int]) -> list[str]:
    """What some branches do and where, unless they are too many to read."""
    if len(numbers) > READABLE:
        return [f"{len(numbers)} branches act in the box"]
    leaves = terminals(context.program.root)
    return [
        f"{leaf_text(context.program, leaves[number])} {region_text(context, region(context, box, number))}"
        for number in numbers
    ]


def region_text(context: Context, constraints: Sequence[Constraint]) -> str:
    """`where …`, or `everywhere`."""
    conditions = all_text(constraints, context.names)
    return f"where {conditions}" if conditions else "everywhere"

"""Where a branch acts, in as few conditions as say it."""

from collections.abc import Sequence
from itertools import islice

from diprl.program.ast import Node, terminals
from diprl.program.paths import leaf_paths
from diprl.verify.constraint import Box, Constraint, of_condition
from diprl.verify.context import Context, leaf_text

READABLE = 16
"""More regions than this are counted, not listed."""


def path_to(root: Node, number: int) -> list[Constraint]:
    """What holds in a branch, counted in the order in which branches are printed."""
    _, path = next(islice(leaf_paths(root), number, None))
    return [of_condition(condition, holds) for _, condition, holds in path]


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


def region_text(context: Context, constraints: list[Constraint]) -> str:
    """`where …`, or `everywhere`."""
    conditions = " and ".join(constraint.text(context.names) for constraint in constraints)
    return f"where {conditions}" if conditions else "everywhere"

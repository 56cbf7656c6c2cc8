"""Changes to a program as pure functions of its root.

A path leads from the root to a node: "then" and "else" joined by dots, or a sequence of them;
empty for the root. Rounding is an edit like any other, to be scored before it is believed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import floor, log10

from diprl.errors import ProgramError, check_known
from diprl.program.ast import Blend, Condition, If, Item, Node, number_rows, with_number_rows
from diprl.program.signature import Signature

Path = str | Sequence[str]


def replace_node(root: Node, path: Path, node: Node) -> Node:
    """The program with another node at the end of a path."""
    steps = _steps(path)
    for step, parent in zip(reversed(steps), reversed(_trail(root, steps)[:-1]), strict=True):
        node = replace(parent, **{"then" if step == "then" else "orelse": node})
    return node


def prune_branch(root: Node, path: Path) -> Node:
    """Remove the branch at a path: its sibling takes the place of the `if` that held both."""
    steps = _steps(path)
    if not steps:
        raise ProgramError("the root cannot be pruned: give the path of a branch, such as 'else.then'")
    parent = _if_at(root, steps[:-1])
    return replace_node(root, steps[:-1], parent.orelse if steps[-1] == "then" else parent.then)


def swap_branches(root: Node, path: Path) -> Node:
    """Exchange the two branches of the `if` at a path."""
    node = _if_at(root, path)
    return replace_node(root, path, If(node.condition, node.orelse, node.then))


def set_numbers(root: Node, path: Path, signature: Signature, weights: Mapping[str, float], bias: float | None) -> Node:
    """Give the condition at a path other weights, by feature name, or another bias."""
    node = _if_at(root, path)
    check_known("feature", signature.feature_names, *weights)
    pairs = zip(signature.feature_names, node.condition.weights, strict=True)
    row = tuple(weights.get(name, weight) for name, weight in pairs)
    condition = Condition(row, node.condition.bias if bias is None else bias)
    return replace_node(root, path, replace(node, condition=condition))


def round_number(value: float, digits: int) -> float:
    """The value to so many significant digits."""
    return round(value, digits - 1 - floor(log10(abs(value)))) if value else 0.0


def round_item(item: Item, digits: int) -> Item:
    """A condition or an affine terminal to so many significant digits; a blend goes on summing to one."""
    if isinstance(item, Blend):
        *first, _ = (round(weight, digits) for weight in item.weights)
        return Blend((*first, round(max(0.0, 1.0 - sum(first)), digits)))
    rows = [tuple(round_number(value, digits) for value in row) for row in number_rows(item)]
    return with_number_rows(item, rows)


def _steps(path: Path) -> list[str]:
    steps = [step for step in path.split(".") if step] if isinstance(path, str) else list(path)
    for step in steps:
        if step not in ("then", "else"):
            raise ProgramError(f"path step '{step}' is neither 'then' nor 'else'")
    return steps


def _trail(root: Node, steps: Sequence[str]) -> list[Node]:
    """Every node on the way, the root first."""
    trail = [root]
    for number, step in enumerate(steps):
        node = trail[-1]
        if not isinstance(node, If):
            raise ProgramError(f"path '{'.'.join(steps)}' leads beyond the action at '{'.'.join(steps[:number])}'")
        trail.append(node.then if step == "then" else node.orelse)
    return trail


def _if_at(root: Node, path: Path) -> If:
    steps = _steps(path)
    node = _trail(root, steps)[-1]
    if not isinstance(node, If):
        raise ProgramError(f"the node at path '{'.'.join(steps)}' is an action, not an if")
    return node

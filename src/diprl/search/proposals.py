"""Smaller or simpler programs to try in place of one: each proposal is pure and says what it does."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.program.ast import Act, Affine, Condition, If, Node, conditions, rebuild
from diprl.program.edit import node_at, replace_node
from diprl.program.rounding import round_condition, round_number

Steps = tuple[str, ...]


@dataclass(frozen=True)
class Proposal:
    """A program and how it came about."""

    program: Program
    what: str


def with_root(program: Program, root: Node) -> Program:
    return Program(program.signature, root, program.task)


def if_paths(node: Node, path: Steps = ()) -> Iterator[Steps]:
    """Where the conditions are, parents first."""
    if isinstance(node, If):
        yield path
        yield from if_paths(node.then, (*path, "then"))
        yield from if_paths(node.orelse, (*path, "else"))


def without_branch(program: Program) -> list[Proposal]:
    """Every program with one condition less: an `if` gives way to one of its branches."""
    found = []
    for path in if_paths(program.root):
        node = node_at(program.root, path)
        if isinstance(node, If):
            for side, kept in (("then", node.orelse), ("else", node.then)):
                shorter = with_root(program, replace_node(program.root, path, kept))
                found.append(
                    Proposal(merged(shorter), f"drop the {side} branch at {'.'.join(path) or 'the root'}")
                )
    return found


def merged(program: Program) -> Program:
    """The same program with conditions that decide nothing removed: both of their branches are equal."""

    def merge(node: Node) -> Node:
        if not isinstance(node, If):
            return node
        then, orelse = merge(node.then), merge(node.orelse)
        return then if then == orelse else If(node.condition, then, orelse)

    return with_root(program, merge(program.root))


def without_coefficient(program: Program, scales: NDArray[np.float64]) -> list[Proposal]:
    """Every program with one number less in a condition, the least influential first."""
    found: list[tuple[float, Proposal]] = []
    names = (*program.signature.feature_names, "constant")
    for index, condition in enumerate(conditions(program.root)):
        row = np.array([*condition.weights, condition.bias])
        influence = np.abs(row) * np.append(scales, 1.0)
        for entry in np.flatnonzero(row):
            if np.count_nonzero(row[:-1]) == 1 and entry < len(row) - 1:
                continue
            smaller = row.copy()
            smaller[entry] = 0.0
            changed = with_condition(
                program, index, Condition(tuple(smaller[:-1].tolist()), float(smaller[-1]))
            )
            share = float(influence[entry] / influence.max())
            found.append((share, Proposal(changed, f"drop {names[entry]} from condition {index + 1}")))
    return [proposal for _, proposal in sorted(found, key=lambda item: item[0])]


def without_weights(program: Program, views: NDArray[np.float32], count: int) -> Program:
    """The program less its conditions' least influential weights on these views; each keeps its greatest.

    A feature that is no longer read leaves its mean effect behind in the constant.
    """
    held = conditions(program.root)
    weights = np.array([condition.weights for condition in held])
    influence = np.abs(weights) * views.std(axis=0, dtype=np.float64)
    greatest = influence.max(axis=1, keepdims=True)
    droppable = np.flatnonzero((weights != 0.0) & (influence < greatest))
    shares = (influence / np.maximum(greatest, 1e-12)).ravel()[droppable]
    kept = weights.copy()
    kept.flat[droppable[np.argsort(shares)][:count]] = 0.0
    left_behind = (weights - kept) @ views.mean(axis=0, dtype=np.float64)
    for index, condition in enumerate(held):
        smaller = Condition(tuple(kept[index].tolist()), condition.bias + float(left_behind[index]))
        program = with_condition(program, index, smaller)
    return program


def with_condition(program: Program, index: int, condition: Condition) -> Program:
    """The program with another condition in the place of the index-th in printing order."""
    replacement = list(conditions(program.root))
    replacement[index] = condition
    upcoming = iter(reversed(replacement))
    return with_root(program, rebuild(program.root, lambda _: next(upcoming), lambda leaf: leaf))


def rounded_condition(program: Program, index: int, digits: int) -> Program:
    """One condition divided by its smallest weight, so that a coefficient reads as 1, to so many significant digits."""
    held = conditions(program.root)[index]
    return with_condition(program, index, round_condition(rescaled(held), digits))


def rescaled(condition: Condition) -> Condition:
    smallest = min((abs(weight) for weight in condition.weights if weight), default=1.0)
    weights = tuple(weight / smallest for weight in condition.weights)
    return Condition(weights, condition.bias / smallest)


def rounded_conditions(program: Program, digits: int) -> Program:
    for index in range(program.conditions):
        program = rounded_condition(program, index, digits)
    return program


def has_digits(condition: Condition, digits: int) -> bool:
    """Whether no number of the condition has more significant digits."""
    return round_condition(condition, digits) == condition


def rounded_terminals(program: Program, digits: int) -> Program:
    """Affine terminals to so many significant digits."""

    def shorten(leaf: Node) -> Node:
        if not isinstance(leaf, Affine):
            return leaf
        weights = tuple(tuple(round_number(value, digits) for value in row) for row in leaf.weights)
        return Affine(weights, tuple(round_number(value, digits) for value in leaf.bias))

    return with_root(program, rebuild(program.root, lambda held: held, shorten))


def relabelled(program: Program) -> list[Proposal]:
    """Every program in which one leaf takes another action."""
    signature = program.signature
    found = []
    for path in leaf_paths(program.root):
        leaf = node_at(program.root, path)
        if isinstance(leaf, Act):
            for action in range(len(signature.actions.names)):
                if action != leaf.action:
                    changed = with_root(program, replace_node(program.root, path, Act(action)))
                    found.append(Proposal(merged(changed), f"act {signature.actions.names[action]} instead"))
    return found


def leaf_paths(node: Node, path: Steps = ()) -> Iterator[Steps]:
    if isinstance(node, If):
        yield from leaf_paths(node.then, (*path, "then"))
        yield from leaf_paths(node.orelse, (*path, "else"))
    else:
        yield path

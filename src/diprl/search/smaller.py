"""Programs with fewer numbers than a given one, those that act most alike first.

A number that goes leaves its work to the others of its condition or output: these are fitted anew to what it said in
visited states. How often the whole program then acts otherwise costs no environment step to find out.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.program.ast import Affine, Blend, Condition, If, Item, Node, assemble, flatten, merge_branches, terminals
from diprl.program.edit import prune_branch
from diprl.program.paths import condition_paths
from diprl.program.signature import Continuous
from diprl.search.numbers import Vector, output_reach
from diprl.search.rounding import DIGITS, rounded

MOST_STATES = 4000
"""Visited states that programs are compared on."""
ALIKE = 0.002
"""Share of visited states in which rounding may change the action."""
NEAR = 0.3
"""States this near to a threshold, in deviations of the condition's value, count half in its fit."""


@dataclass(frozen=True)
class Proposal:
    """A smaller program and how it differs."""

    program: Program
    what: str
    saved: int
    """Numbers that it has less."""
    changed: float
    """Share of visited states in which it acts otherwise."""


def smaller_programs(program: Program, views: NDArray[np.float32]) -> list[Proposal]:
    """Every program with a branch or a number less; the least change for each number saved comes first."""
    states = thinned(views)
    acts = behaviour(program, states)
    found: dict[Program, Proposal] = {}
    for other, what in (*without_branches(program), *without_numbers(program, states)):
        saved = program.coefficients - other.coefficients
        if saved > 0:
            changed = float(np.abs(behaviour(other, states) - acts).max(axis=1).mean())
            found.setdefault(other, Proposal(other, what, saved, changed))
    return sorted(found.values(), key=lambda proposal: proposal.changed / proposal.saved)


def rounded_alike(program: Program, views: NDArray[np.float32]) -> Program:
    """The program with the fewest digits, up to three, with which it acts as before in nearly all visited states."""
    return next(with_fewer_digits(program, views, ALIKE), rounded(program, DIGITS[-1]))


def with_fewer_digits(program: Program, views: NDArray[np.float32], changed: float) -> Iterator[Program]:
    """The program in one digit, two and three, where it then acts otherwise in a smaller share of visited states."""
    states = thinned(views)
    acts = behaviour(program, states)
    rounder = (rounded(program, digits) for digits in DIGITS)
    return (each for each in rounder if np.abs(behaviour(each, states) - acts).max(axis=1).mean() < changed)


def thinned(views: NDArray[np.float32]) -> NDArray[np.float32]:
    return views[:: -(-len(views) // MOST_STATES)]


def behaviour(program: Program, states: NDArray[np.float32]) -> Vector:
    """What the program does in each state, one row of numbers between −1 and 1 or so."""
    if isinstance(program.signature.actions, Continuous):
        return np.asarray(program.act_batch(states), np.float64) / output_reach(program)
    leaves = terminals(program.root)
    choices = np.eye(len(program.signature.actions.names))
    rows = [np.asarray(leaf.weights) if isinstance(leaf, Blend) else choices[leaf.action] for leaf in leaves]  # type: ignore[union-attr]
    return np.asarray(rows)[program.branch_batch(states)]


def merged(program: Program) -> Program:
    """The same program with conditions that decide nothing removed: both of their branches are equal."""
    return program.with_root(merge_branches(program.root))


def without_branches(program: Program) -> Iterator[tuple[Program, str]]:
    """Every program with one condition less: an `if` gives way to one of its branches."""
    for number, path in enumerate(condition_paths(program.root), start=1):
        steps = [decision.branch for decision in path]
        for dropped, kept in (("then", "else"), ("else", "then")):
            shorter = program.with_root(prune_branch(program.root, [*steps, dropped]))
            yield merged(shorter), f"condition {number} gives way to its {kept} branch"


def without_numbers(program: Program, states: NDArray[np.float32]) -> Iterator[tuple[Program, str]]:
    """Every program with one number less, the others of its condition or output fitted anew."""
    items = list(flatten(program.root))
    names = (*program.signature.feature_names, "constant")
    for place, (item, here) in enumerate(zip(items, reached(program.root, states), strict=True)):
        for entry, smaller in without_number(item, states[here].astype(np.float64)):
            changed = program.with_root(assemble([*items[:place], smaller, *items[place + 1 :]]))
            kind = "condition" if isinstance(item, Condition) else "output"
            yield changed, f"drop {names[entry]} from {kind} {place + 1}"


def reached(root: Node, states: NDArray[np.float32]) -> Iterator[NDArray[np.bool_]]:
    """For every condition and terminal in printing order, which states come to it."""
    stack = [(root, np.ones(len(states), bool))]
    while stack:
        node, here = stack.pop()
        yield here
        if isinstance(node, If):
            holds = states @ np.asarray(node.condition.weights) + node.condition.bias > 0
            stack += [(node.orelse, here & ~holds), (node.then, here & holds)]


def without_number(item: Item, states: Vector) -> Iterator[tuple[int, Item]]:
    """The item without each of its numbers in turn: a condition keeps one weight at least."""
    if isinstance(item, Condition):
        row = np.array([*item.weights, item.bias])
        for entry in np.flatnonzero(row):
            left = (row != 0.0) & (np.arange(len(row)) != entry)
            if left[:-1].any():
                fitted = fitted_condition(row, left, states)
                yield int(entry), Condition(tuple(fitted[:-1].tolist()), float(fitted[-1]))
    if isinstance(item, Affine):
        rows = np.column_stack([item.weights, item.bias])
        for output, entry in zip(*np.nonzero(rows), strict=True):
            left = (rows[output] != 0.0) & (np.arange(rows.shape[1]) != entry)
            fitted = rows.copy()
            fitted[output] = least_squares(rows[output], left, states, np.ones(len(states)))
            yield int(entry), Affine(tuple(map(tuple, fitted[:, :-1].tolist())), tuple(fitted[:, -1].tolist()))


def fitted_condition(row: Vector, left: NDArray[np.bool_], states: Vector) -> Vector:
    """The numbers that are left, such that the condition decides as before where it can.

    A fit to its values, near the threshold above all; then the threshold that errs least often.
    """
    if len(states) == 0:
        return np.where(left, row, 0.0)
    values = states @ row[:-1] + row[-1]
    closeness = 1.0 / (1.0 + (values / (NEAR * values.std() + 1e-12)) ** 2)
    fitted = least_squares(row, left, states, closeness)
    if not fitted[:-1].any():
        return np.where(left, row, 0.0)
    if left[-1]:
        fitted[-1] = best_constant(states @ fitted[:-1], values > 0)
    return fitted


def least_squares(row: Vector, left: NDArray[np.bool_], states: Vector, importance: Vector) -> Vector:
    """The row's values fitted by the numbers that are left."""
    fitted = np.zeros(len(row))
    if not len(states) or not left.any():
        return np.where(left, row, 0.0)
    inputs = np.column_stack([states, np.ones(len(states))])
    root = np.sqrt(importance)[:, None]
    scale = np.maximum(np.abs(inputs[:, left]).max(axis=0), 1e-12)
    solution = np.linalg.lstsq(root * inputs[:, left] / scale, root[:, 0] * (inputs @ row), rcond=1e-9)[0]
    fitted[left] = solution / scale
    return fitted


def best_constant(values: Vector, holds: NDArray[np.bool_]) -> float:
    """The constant with which `values + constant > 0` differs from `holds` least often."""
    order = np.argsort(values)
    ordered, truth = values[order], holds[order]
    # With the first k values not holding: errors are the true ones among them and the false ones after.
    errors = np.concatenate([[0], np.cumsum(truth)]) + np.concatenate([np.cumsum(~truth[::-1])[::-1], [0]])
    edges = np.concatenate([[2 * ordered[0] - ordered[-1] - 1.0], (ordered[1:] + ordered[:-1]) / 2, [ordered[-1]]])
    return -float(edges[int(np.argmin(errors))])

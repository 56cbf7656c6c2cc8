"""Programs with fewer numbers than a given one, those that act most alike first.

A number that goes leaves its work to the others of its condition or output: these are fitted anew to what it said in
visited states. How often the whole program then acts otherwise costs no environment step to find out.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diprl.program import Program
from diprl.program.ast import (
    Affine,
    Blend,
    Condition,
    If,
    Item,
    Node,
    assemble,
    flatten,
    merge_branches,
    number_rows,
    terminals,
)
from diprl.program.edit import prune_branch
from diprl.program.paths import condition_paths
from diprl.program.sets import values_of, with_sets
from diprl.program.signature import Continuous
from diprl.search.numbers import Vector, output_reach

MOST_STATES = 12_000
"""Visited states that programs are compared on."""
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
    """Share of visited states in which it goes wrong, more than the program that it is made from."""


def smaller_programs(program: Program, views: NDArray[np.float32], like: Program | None = None) -> list[Proposal]:
    """Every program with a branch or a number less; the least change for each number saved comes first.

    What it should act like is `like`, by default the program itself.
    """
    states = thinned(views)
    wanted = behaviour(like or program, states)
    differs = np.abs(behaviour(program, states) - wanted).max(axis=1)
    found: dict[Program, Proposal] = {}
    for other, what, where in (*without_branches(program, states), *without_numbers(program, states)):
        saved = program.coefficients - other.coefficients
        if saved > 0:
            here = np.abs(behaviour(other, states[where]) - wanted[where]).max(axis=1)
            changed = float(here.sum() - differs[where].sum()) / len(states)
            found.setdefault(other, Proposal(other, what, saved, changed))
    return sorted(found.values(), key=lambda proposal: proposal.changed / proposal.saved)


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
    """The same program without conditions that decide nothing, and with sets where values of one thing are read."""
    return program.with_root(merge_branches(with_sets(program.root, program.signature.feature_names)))


Smaller = tuple[Program, str, NDArray[np.bool_]]
"""A program, what it lacks, and the states in which its action may differ."""


def without_branches(program: Program, states: NDArray[np.float32]) -> Iterator[Smaller]:
    """Every program with one condition less: an `if` gives way to one of its branches."""
    visits = (visit for visit in reached(program.root, states) if isinstance(visit[0], Condition))
    for number, (path, (_, here, holds)) in enumerate(zip(condition_paths(program.root), visits, strict=True), start=1):
        steps = [decision.branch for decision in path]
        for dropped, kept, where in (("then", "else", here & holds), ("else", "then", here & ~holds)):
            shorter = program.with_root(prune_branch(program.root, [*steps, dropped]))
            yield merged(shorter), f"condition {number} gives way to its {kept} branch", where


def without_numbers(program: Program, states: NDArray[np.float32]) -> Iterator[Smaller]:
    """Every program with one number less, the others of its condition or output fitted anew."""
    items = list(flatten(program.root))
    names = (*program.signature.feature_names, "constant")
    for place, (item, here, holds) in enumerate(reached(program.root, states)):
        is_set = isinstance(item, Condition) and values_of(item, program.signature.feature_names)
        fewer = without_value(item) if is_set else without_number(item, states[here].astype(np.float64))
        for entry, smaller in fewer:
            changed = program.with_root(assemble([*items[:place], smaller, *items[place + 1 :]]))
            kind = "condition" if isinstance(item, Condition) else "output"
            where = here
            if isinstance(smaller, Condition):  # a set without a value differs in that value at most
                where = here & (states[:, entry] != 0.0 if is_set else truth(smaller, states) != holds)
            yield changed, f"drop {names[entry]} from {kind} {place + 1}", where


def truth(condition: Condition, states: NDArray[np.float32]) -> NDArray[np.bool_]:
    return states @ np.asarray(condition.weights) + condition.bias > 0


def reached(root: Node, states: NDArray[np.float32]) -> Iterator[tuple[Item, NDArray[np.bool_], NDArray[np.bool_]]]:
    """Every condition and terminal in printing order, the states that come to it, and those where it holds."""
    stack = [(root, np.ones(len(states), bool))]
    while stack:
        node, here = stack.pop()
        if isinstance(node, If):
            holds = truth(node.condition, states)
            yield node.condition, here, holds
            stack += [(node.orelse, here & ~holds), (node.then, here & holds)]
        else:
            yield node, here, here


def without_value(condition: Item) -> Iterator[tuple[int, Item]]:
    """A set without each of its values in turn; it keeps one at least."""
    weights, bias = number_rows(condition)[0][:-1], number_rows(condition)[0][-1]
    entries = np.flatnonzero(weights).tolist()
    for entry in entries if len(entries) > 1 else []:
        yield entry, Condition((*weights[:entry], 0.0, *weights[entry + 1 :]), bias)


def without_number(item: Item, states: Vector) -> Iterator[tuple[int, Item]]:
    """The item without each of its numbers in turn: a condition keeps one weight at least."""
    if isinstance(item, Condition):
        row = np.array([*item.weights, item.bias])
        fit = ConditionFit(row, states)
        for entry, left in one_less(row):
            if left[:-1].any():
                fitted = fit.numbers(left)
                yield entry, Condition(tuple(fitted[:-1].tolist()), float(fitted[-1]))
    if isinstance(item, Affine):
        rows = np.column_stack([item.weights, item.bias])
        for output, row in enumerate(rows):
            fit = LinearFit(row, states, np.ones(len(states)))
            for entry, left in one_less(row):
                fitted = rows.copy()
                fitted[output] = fit.numbers(left)
                yield entry, Affine(tuple(map(tuple, fitted[:, :-1].tolist())), tuple(fitted[:, -1].tolist()))


def one_less(row: Vector) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Each number of a row that is not zero, and which numbers are left without it."""
    for entry in np.flatnonzero(row):
        yield int(entry), (row != 0.0) & (np.arange(len(row)) != entry)


class LinearFit:
    """The values of a row of numbers in some states, fitted by some of these numbers alone: least squares."""

    def __init__(self, row: Vector, states: Vector, importance: Vector) -> None:
        inputs = np.column_stack([states, np.ones(len(states))])
        self.row, self.scale = row, np.maximum(np.abs(inputs).max(axis=0, initial=0.0), 1e-12)
        scaled = np.sqrt(importance)[:, None] * inputs / self.scale
        self.products = scaled.T @ scaled
        self.wanted = self.products @ (row * self.scale)

    def numbers(self, left: NDArray[np.bool_]) -> Vector:
        if not self.products.any() or not left.any():
            return np.where(left, self.row, 0.0)
        fitted = np.zeros(len(self.row))
        fitted[left] = np.linalg.lstsq(self.products[np.ix_(left, left)], self.wanted[left], rcond=1e-12)[0]
        return fitted / self.scale


class ConditionFit:
    """Numbers with which a condition decides as before where it can.

    A fit to its values, near the threshold above all; then the threshold that errs least often.
    """

    def __init__(self, row: Vector, states: Vector) -> None:
        self.row, self.states = row, states
        self.values = states @ row[:-1] + row[-1]
        nearness = NEAR * self.values.std() + 1e-12 if len(states) else 1.0
        self.linear = LinearFit(row, states, 1.0 / (1.0 + (self.values / nearness) ** 2))

    def numbers(self, left: NDArray[np.bool_]) -> Vector:
        fitted = self.linear.numbers(left)
        if not len(self.states) or not fitted[:-1].any():
            return np.where(left, self.row, 0.0)
        if left[-1]:
            fitted[-1] = best_constant(self.states @ fitted[:-1], self.values > 0)
        return fitted


def best_constant(values: Vector, holds: NDArray[np.bool_]) -> float:
    """The constant with which `values + constant > 0` differs from `holds` least often."""
    order = np.argsort(values)
    ordered, truth = values[order], holds[order]
    # With the first k values not holding: errors are the true ones among them and the false ones after.
    errors = np.concatenate([[0], np.cumsum(truth)]) + np.concatenate([np.cumsum(~truth[::-1])[::-1], [0]])
    edges = np.concatenate([[2 * ordered[0] - ordered[-1] - 1.0], (ordered[1:] + ordered[:-1]) / 2, [ordered[-1]]])
    return -float(edges[int(np.argmin(errors))])

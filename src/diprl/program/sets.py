"""Conditions on which value something has: `state in {3, 7, 9}`.

An observation that is one of several values has a feature for each of them, which is 1 for that value and 0 for all
others (`names.category`). A sum of such features less a half is a set of values, and is written as one.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from diprl.program.ast import Condition, If, Item, Node, assemble
from diprl.program.names import category

HALF = 0.5
"""The constant of a set, between none of its values and one."""


class Values(NamedTuple):
    """The values of something that a condition asks for, or those that it rules out."""

    name: str
    values: tuple[int, ...]
    inside: bool


def values_of(condition: Condition, names: Sequence[str]) -> Values | None:
    """The set that a condition is; None for any other linear form."""
    read = [(weight, name) for weight, name in zip(condition.weights, names, strict=True) if weight]
    sign = -2.0 * condition.bias
    found = [each for weight, name in read if weight == sign and (each := category(name))]
    things = {name for name, _ in found}
    if abs(sign) != 1.0 or len(found) != len(read) or len(things) != 1:
        return None
    return Values(things.pop(), tuple(sorted(value for _, value in found)), sign > 0)


def set_terms(name: str, values: Iterable[int], inside: bool) -> tuple[dict[str, float], float]:
    """The weights by feature and the constant of a set."""
    sign = 1.0 if inside else -1.0
    return {f"{name}_is_{value}": sign for value in values}, -sign * HALF


class Things:
    """What a program's features are the values of, by name: the column of each value."""

    def __init__(self, names: Sequence[str]) -> None:
        self.columns = defaultdict[str, dict[int, int]](dict)
        for column, name in enumerate(names):
            if found := category(name):
                self.columns[found[0]][found[1]] = column
        self.owner = {column: name for name, values in self.columns.items() for column in values.values()}

    def holding(self, node: Node) -> tuple[str, frozenset[int]] | None:
        """The one thing that an `if` reads and the values with which it holds; None where it reads anything else."""
        if not isinstance(node, If):
            return None
        weights, bias = node.condition.weights, node.condition.bias
        read = {self.owner.get(column, "") for column, weight in enumerate(weights) if weight}
        if len(read) != 1 or "" in read:
            return None
        name = read.pop()
        return name, frozenset(value for value, column in self.columns[name].items() if weights[column] + bias > 0)


def with_sets(root: Node, names: Sequence[str]) -> Node:
    """The same decisions with every condition that reads the values of one thing as a set, the shortest there is.

    Values that have been decided before play no part. A condition that always or never holds goes, and one with the
    same branch as the next is united with it.
    """
    things, items = Things(names), list[Item]()
    stack = [(root, {name: frozenset(values) for name, values in things.columns.items()})]
    while stack:
        node, left = stack.pop()
        found = things.holding(node)
        if not isinstance(node, If) or found is None:
            items.append(node.condition if isinstance(node, If) else node)
            stack += [(node.orelse, left), (node.then, left)] if isinstance(node, If) else []
            continue
        (name, holds), rest = found, node.orelse
        while isinstance(rest, If) and rest.then == node.then and (more := things.holding(rest)) and more[0] == name:
            holds, rest = holds | more[1], rest.orelse
        holds, others = holds & left[name], left[name] - holds
        if not holds or not others:
            stack.append((node.then if holds else rest, left))
            continue
        inside = len(holds) <= len(others)
        terms, bias = set_terms(name, holds if inside else others, inside)
        items.append(Condition(tuple(terms.get(each, 0.0) for each in names), bias))
        stack += [(rest, left | {name: others}), (node.then, left | {name: holds})]
    return assemble(items)

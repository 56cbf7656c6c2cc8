"""Typed access to the entries of a specification; every mistake becomes one sentence with its line."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from math import inf, isnan
from typing import TypeVar

from diprl.verify.constraint import Box, Constraint, parse_constraint
from diprl.verify.tree import Listing, Mapping, Scalar, SpecError, Tree

Value = TypeVar("Value")


class Fields:
    """One mapping whose keys are taken one by one; what is left over was misspelt."""

    def __init__(self, tree: Tree, what: str) -> None:
        if not isinstance(tree, Mapping):
            raise SpecError(f"line {tree.line}: {what} must be a mapping of keys to values")
        self._tree, self._what = tree, what
        self._asked: set[str] = set()

    @property
    def line(self) -> int:
        return self._tree.line

    def tree(self, key: str) -> Tree | None:
        self._asked.add(key)
        return self._tree.entries.get(key)

    def required(self, key: str) -> Tree:
        tree = self.tree(key)
        if tree is None:
            raise SpecError(f"line {self.line}: {self._what} needs '{key}:'")
        return tree

    def take(self, key: str, read: Callable[[Tree], Value], default: Value) -> Value:
        tree = self.tree(key)
        return default if tree is None else read(tree)

    def finish(self) -> None:
        """Complain about the first key that nothing asked for."""
        for key, line in self._tree.lines.items():
            if key not in self._asked:
                near = get_close_matches(key, self._asked, n=1, cutoff=0.5)
                hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(self._asked))}"
                raise SpecError(f"line {line}: {self._what} has no key '{key}': {hint}")


def read_text(tree: Tree) -> str:
    if not isinstance(tree, Scalar) or not tree.text.strip():
        raise SpecError(f"line {tree.line}: expected a word or a sentence here")
    return tree.text.strip()


def read_number(tree: Tree) -> float:
    text = read_text(tree)
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if isnan(number):
        raise SpecError(f"line {tree.line}: expected a number, found '{text:.40}'")
    return number


def read_positive(tree: Tree) -> float:
    number = read_number(tree)
    if not 0.0 < number < inf:
        raise SpecError(f"line {tree.line}: expected a number above zero, found {number:g}")
    return number


def read_count(tree: Tree) -> int:
    text = read_text(tree)
    if not text.isdecimal() or not 1 <= int(text[:9]) <= 1_000_000:
        raise SpecError(f"line {tree.line}: expected a whole number from 1 to 1000000, found '{text:.40}'")
    return int(text)


def read_list(tree: Tree) -> Sequence[Tree]:
    """The items of a list; a single item stands for a list of one."""
    return tree.items if isinstance(tree, Listing) else (tree,)


def read_index(tree: Tree, names: Sequence[str], kind: str) -> int:
    """The position of a name among the known ones."""
    text = read_text(tree)
    if text not in names:
        near = get_close_matches(text, names, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
        raise SpecError(f"line {tree.line}: '{text:.40}' is not {kind}: {hint}")
    return names.index(text)


def read_indices(tree: Tree, names: Sequence[str], kind: str) -> tuple[int, ...]:
    return tuple(read_index(item, names, kind) for item in read_list(tree))


def read_constraints(tree: Tree, names: Sequence[str], kind: str) -> tuple[Constraint, ...]:
    """One inequality per item, all of which must hold."""
    found = []
    for item in read_list(tree):
        text = read_text(item)
        column = item.column if isinstance(item, Scalar) else 1
        found.append(parse_constraint(text, names, kind, item.line, column))
    return tuple(found)


def read_interval(tree: Tree) -> tuple[float, float]:
    """`[low, high]`, or one number for both."""
    numbers = [read_number(item) for item in read_list(tree)]
    if len(numbers) not in (1, 2) or numbers[0] > numbers[-1]:
        raise SpecError(f"line {tree.line}: expected an interval such as [-1, 1]")
    return numbers[0], numbers[-1]


def read_box(tree: Tree, outer: Box, names: Sequence[str]) -> Box:
    """Intervals for some of the features, within an outer box."""
    low, high = list(outer.low), list(outer.high)
    for name, interval in _named(tree, names):
        index = names.index(name)
        first, last = read_interval(interval)
        low[index], high[index] = max(low[index], first), min(high[index], last)
        if low[index] > high[index]:
            raise SpecError(
                f"line {interval.line}: {name} in [{first:g}, {last:g}] leaves nothing of "
                f"[{outer.low[index]:g}, {outer.high[index]:g}], where {name} lies by the box or its bounds"
            )
    return Box(tuple(low), tuple(high))


def read_state(tree: Tree, names: Sequence[str]) -> tuple[float, ...]:
    """A finite number for every feature."""
    values = {name: read_number(entry) for name, entry in _named(tree, names)}
    missing = [name for name in names if name not in values]
    if missing or not all(abs(value) < inf for value in values.values()):
        problem = f"{missing[0]} is missing" if missing else "every number must be finite"
        raise SpecError(f"line {tree.line}: a state gives a number for every feature: {problem}")
    return tuple(values[name] for name in names)


def read_scales(tree: Tree, names: Sequence[str]) -> tuple[float, ...]:
    """Positive numbers for some of the features; the others have scale 1."""
    values = {name: read_positive(entry) for name, entry in _named(tree, names)}
    return tuple(values.get(name, 1.0) for name in names)


def _named(tree: Tree, names: Sequence[str]) -> list[tuple[str, Tree]]:
    if not isinstance(tree, Mapping):
        raise SpecError(f"line {tree.line}: expected feature names with values, such as {names[0]}: …")
    for name in tree.entries:
        read_index(Scalar(name, tree.lines[name], 1), names, "a feature name")
    return list(tree.entries.items())

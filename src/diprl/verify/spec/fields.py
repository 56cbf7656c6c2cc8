"""Typed access to the entries of a specification; every mistake becomes one sentence with its line."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from math import inf, isnan
from typing import TypeVar

from diprl.errors import LONGEST_NAME
from diprl.verify.spec.tree import Listing, Mapping, Scalar, SpecError, Tree

Value = TypeVar("Value")
MOST_STEPS = 1_000_000


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

    def required(self, key: str) -> Tree:
        self._asked.add(key)
        if key not in self._tree.entries:
            raise SpecError(f"line {self.line}: {self._what} needs '{key}:'")
        return self._tree.entries[key]

    def need(self, key: str, read: Callable[[Tree], Value]) -> Value:
        return read(self.required(key))

    def take(self, key: str, read: Callable[[Tree], Value], default: Value) -> Value:
        self._asked.add(key)
        return read(self._tree.entries[key]) if key in self._tree.entries else default

    def refuse(self, key: str, sentence: str) -> None:
        if key in self._tree.entries:
            raise SpecError(f"line {self._tree.lines[key]}: {sentence}")

    def finish(self) -> None:
        """Complain about the first key that nothing asked for."""
        for key, line in self._tree.lines.items():
            if key not in self._asked:
                hint = _hint(key, sorted(self._asked))
                raise SpecError(f"line {line}: {self._what} has no key '{key:.40}': {hint}")


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


def read_not_negative(tree: Tree) -> float:
    number = read_number(tree)
    if not 0.0 <= number < inf:
        raise SpecError(f"line {tree.line}: expected a finite number that is not negative, found {number:g}")
    return number


def read_positive(tree: Tree) -> float:
    number = read_number(tree)
    if not 0.0 < number < inf:
        raise SpecError(f"line {tree.line}: expected a number above zero, found {number:g}")
    return number


def read_count(tree: Tree) -> int:
    text = read_text(tree)
    digits = text.lstrip("0")
    if not digits.isdecimal() or len(digits) > len(str(MOST_STEPS)) or int(digits) > MOST_STEPS:
        raise SpecError(
            f"line {tree.line}: expected a whole number from 1 to {MOST_STEPS}, found '{text:.40}'"
        )
    return int(digits)


def read_list(tree: Tree) -> Sequence[Tree]:
    """The items of a list; a single item stands for a list of one."""
    return tree.items if isinstance(tree, Listing) else (tree,)


def read_index(tree: Tree, names: Sequence[str], kind: str) -> int:
    """The position of a name among the known ones."""
    text = read_text(tree)
    if text not in names:
        raise SpecError(f"line {tree.line}: '{text:.40}' is not {kind}: {_hint(text, names)}")
    return names.index(text)


def read_pairs(tree: Tree, names: Sequence[str], kind: str) -> list[tuple[int, Tree]]:
    """A mapping whose keys are known names, each by its position."""
    if not isinstance(tree, Mapping):
        raise SpecError(f"line {tree.line}: expected pairs that begin with {kind}, such as {names[0]}: …")
    entries = tree.entries.items()
    return [(read_index(Scalar(key, tree.lines[key], 1), names, kind), entry) for key, entry in entries]


def read_interval(tree: Tree) -> tuple[float, float]:
    """`[low, high]`, or one number for both."""
    numbers = [read_number(item) for item in read_list(tree)]
    if len(numbers) not in (1, 2) or numbers[0] > numbers[-1] or numbers[0] == inf or numbers[-1] == -inf:
        raise SpecError(f"line {tree.line}: expected an interval such as [-1, 1]")
    return numbers[0], numbers[-1]


def _hint(text: str, known: Sequence[str]) -> str:
    near = get_close_matches(text[:LONGEST_NAME], known, n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"

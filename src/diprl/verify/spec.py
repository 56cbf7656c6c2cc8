"""Reads specifications; every mistake becomes one sentence with its line.

YAML becomes a small tree of text with line numbers: bounded, without aliases or tags, nothing constructed. Scalars stay
text until a field says what it wants, so `1e-3` is a number and `no` may name an action.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan
from pathlib import Path
from typing import Any, TypeVar

from diprl.errors import DiprlError, listed, nearest, optional
from diprl.program import Program
from diprl.program.signature import Continuous
from diprl.program.tokens import Tokens, parse_linear
from diprl.system.files import read_text as read_text_file
from diprl.verify.exact.linear import Box, Constraint, State, exact
from diprl.verify.plants.plant import Plant

MAX_CHARACTERS = 1_000_000
MAX_NESTING = 12
_MOST_STEPS = 1_000_000
Value = TypeVar("Value")


class SpecError(DiprlError):
    """A specification cannot be used; says where and why."""


@dataclass(frozen=True)
class Tree:
    """A text, a list, or a mapping that keeps each key with its place."""

    value: "str | tuple[Tree, ...] | dict[str, tuple[Tree, Tree]]"
    line: int
    column: int

    def error(self, sentence: str) -> SpecError:
        """A mistake in this place."""
        return SpecError(f"line {self.line}: {sentence}")


def read_tree(text: str) -> Tree:
    """The tree of one YAML document."""
    if len(text) > MAX_CHARACTERS:
        raise SpecError(f"the specification is longer than {MAX_CHARACTERS} characters")
    yaml = optional("yaml", "specifications need PyYAML: install it with: pip install 'diprl[verify]'")
    try:
        _check_events(yaml, text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}: " if mark else ""
        raise SpecError(f"{where}this is not valid YAML ({error.problem or error.context})") from None
    except yaml.YAMLError as error:
        raise SpecError(f"this is not valid YAML ({str(error).splitlines()[0]})") from None
    if node is None:
        raise SpecError("the specification is empty: it needs a list of 'properties:'")
    return _convert(yaml, node)


def _check_events(yaml: Any, text: str) -> None:
    """Refuse deep nesting, aliases and tags before any node is built."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None) is not None:
            raise SpecError(f"line {line}: aliases and tags are not used in specifications: write it out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_NESTING:
            raise SpecError(f"line {line}: the specification nests deeper than {MAX_NESTING} levels")


def _convert(yaml: Any, node: Any) -> Tree:
    line, column = node.start_mark.line + 1, node.start_mark.column + 1
    if isinstance(node, yaml.ScalarNode):
        return Tree(node.value, line, column + (node.style in ("'", '"')))
    if isinstance(node, yaml.SequenceNode):
        return Tree(tuple(_convert(yaml, item) for item in node.value), line, column)
    entries: dict[str, tuple[Tree, Tree]] = {}
    for key, entry in node.value:
        name = _convert(yaml, key)
        if not isinstance(name.value, str) or name.value in entries:
            raise name.error("every key must be plain text and appear once")
        entries[name.value] = name, _convert(yaml, entry)
    return Tree(entries, line, column)


class Entries:
    """A mapping whose keys are taken one by one; what is left over was misspelt."""

    def __init__(self, tree: Tree, what: str) -> None:
        if not isinstance(tree.value, dict):
            raise tree.error(f"{what} must be a mapping of keys to values")
        self.entries, self.error, self._what = tree.value, tree.error, what
        self._taken: set[str] = set()

    def take(self, key: str, read: Callable[[Tree], Value], *default: Value) -> Value:
        """What a key says; without a default it must be there."""
        self._taken.add(key)
        if key in self.entries:
            return read(self.entries[key][1])
        if not default:
            raise self.error(f"{self._what} needs '{key}:'")
        return default[0]

    def choice(self, key: str, names: Sequence[str], kind: str, *default: int) -> str:
        """One of a few names."""
        return names[self.take(key, lambda tree: read_index(tree, names, kind), *default)]

    def finish(self) -> None:
        """Complain about the first key that nothing asked for."""
        for key, (place, _) in self.entries.items():
            if key not in self._taken:
                raise place.error(f"{self._what} has no key '{key:.40}': {_hint(key, sorted(self._taken))}")


class Asked(Entries):
    """A mapping that asks something of a program."""

    def __init__(
        self, tree: Tree, what: str, program: Program, box: Box, folder: Path, plant: Plant | None = None
    ) -> None:
        super().__init__(tree, what)
        self.program, self.box, self.folder, self.plant = program, box, folder, plant
        self.features, self.actions = program.signature.feature_names, program.signature.actions.names
        self.continuous = isinstance(program.signature.actions, Continuous)

    def feature(self, tree: Tree) -> int:
        return read_index(tree, self.features, "a feature name")

    def action(self, tree: Tree) -> int:
        return read_index(tree, self.actions, "an output" if self.continuous else "an action name")

    def conditions(self, tree: Tree) -> tuple[Constraint, ...]:
        """One inequality over features per item, all of which must hold."""
        return read_list(tree, lambda item: read_constraint(item, self.features, "a feature name"))

    def output_condition(self, tree: Tree) -> Constraint:
        return read_constraint(tree, self.actions, "an output name")

    def inner_box(self, tree: Tree) -> Box:
        """Intervals for some of the features, within the box."""
        low, high = list(self.box.low), list(self.box.high)
        sides = read_mapping(tree, self.feature, lambda entry: (entry, *read_interval(entry)))
        for index, (entry, first, last) in sides.items():
            low[index], high[index] = max(low[index], first), min(high[index], last)
            if low[index] > high[index]:
                name, least, most = self.features[index], self.box.low[index], self.box.high[index]
                sentence = f"{name} in [{first:g}, {last:g}] leaves nothing of [{least:g}, {most:g}]"
                raise entry.error(f"{sentence}, where {name} lies by the box or its bounds")
        return Box(tuple(low), tuple(high))

    def output_box(self, tree: Tree) -> Box:
        """Intervals for some of the outputs."""
        sides = read_mapping(tree, self.action, read_interval)
        low, high = zip(*(sides.get(output, (-inf, inf)) for output in range(len(self.actions))), strict=True)
        return Box(low, high)

    def state(self, tree: Tree) -> State:
        """A finite number for every feature."""
        values = read_mapping(tree, self.feature, read_number)
        missing = [name for index, name in enumerate(self.features) if index not in values]
        if missing or not all(map(isfinite, values.values())):
            problem = f"{missing[0]} is missing" if missing else "every number must be finite"
            raise tree.error(f"a state gives a number for every feature: {problem}")
        return tuple(values[index] for index in range(len(self.features)))

    def scales(self) -> State:
        """Positive numbers for some of the features, under 'scales:'; the others have scale 1."""
        values = self.take("scales", lambda tree: read_mapping(tree, self.feature, read_positive), {})
        return tuple(values.get(index, 1.0) for index in range(len(self.features)))


def read_file(path: Path, read: Callable[[str], Value]) -> Value:
    """What a file says; errors name the file and, where they can, the line."""
    text = read_text_file(path)
    try:
        return read(text)
    except DiprlError as error:
        raise SpecError(f"{path}: {error}") from None


def read_text(tree: Tree) -> str:
    if not isinstance(tree.value, str) or not tree.value.strip():
        raise tree.error("expected a word or a sentence here")
    return tree.value.strip()


def read_number(tree: Tree, finite: bool = False) -> float:
    text = read_text(tree)
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if isnan(number):
        raise tree.error(f"expected a number, found '{text:.40}'")
    if finite and not isfinite(number):
        raise tree.error("every number must be finite")
    return number


def read_positive(tree: Tree) -> float:
    number = read_number(tree)
    if not 0.0 < number < inf:
        raise tree.error(f"expected a number above zero, found {number:g}")
    return number


def read_whole(tree: Tree, least: int, most: int) -> int:
    number = read_number(tree)
    if not least <= number <= most or number % 1:
        raise tree.error(f"expected a whole number from {least} to {most}, found {number:g}")
    return int(number)


def read_count(tree: Tree) -> int:
    return read_whole(tree, 1, _MOST_STEPS)


def read_list(tree: Tree, read: Callable[[Tree], Value]) -> tuple[Value, ...]:
    """The items of a list; a single item stands for a list of one."""
    return tuple(map(read, tree.value if isinstance(tree.value, tuple) else (tree,)))


def read_index(tree: Tree, names: Sequence[str], kind: str) -> int:
    """The position of a name among the known ones."""
    text = read_text(tree)
    if text not in names:
        raise tree.error(f"'{text:.40}' is not {kind}: {_hint(text, names)}")
    return names.index(text)


def read_mapping(tree: Tree, key: Callable[[Tree], int], read: Callable[[Tree], Value]) -> dict[int, Value]:
    """What is said about some names, by their positions."""
    return {key(name): read(entry) for name, entry in entries_of(tree).values()}


def entries_of(tree: Tree) -> dict[str, tuple[Tree, Tree]]:
    if not isinstance(tree.value, dict):
        raise tree.error("expected names with values, such as {name: …}")
    return tree.value


def read_interval(tree: Tree, finite: bool = False) -> tuple[float, float]:
    """`[low, high]`, or one number for both."""
    numbers = read_list(tree, lambda item: read_number(item, finite))
    if len(numbers) not in (1, 2) or numbers[0] > numbers[-1] or numbers[0] == inf or numbers[-1] == -inf:
        raise tree.error("expected an interval such as [-1, 1]")
    return numbers[0], numbers[-1]


def read_constraint(tree: Tree, names: Sequence[str], kind: str) -> Constraint:
    """Read `2*x - y > 0.5`, with >, <, >= or <=; `kind` says in errors what the names are."""
    text = read_text(tree)
    tokens = Tokens(text, tree.line, tree.column)
    left = parse_linear(tokens, names, kind)
    comparison = tokens.accept(">", "<", ">=", "<=")
    if comparison is None:
        raise tokens.current.error("'>', '<', '>=' or '<='")
    right = parse_linear(tokens, names, kind)
    tokens.expect_end()
    greater, smaller = (left, right) if comparison.text[0] == ">" else (right, left)
    greater.add(smaller, -1.0)
    numbers = (*greater.weights(names), greater.constant)
    if not all(map(isfinite, numbers)):
        raise tree.error(f"the numbers of '{text:.40}' are too large")
    *weights, bias = exact(numbers)
    return Constraint(tuple(weights), bias, len(comparison.text) == 1, text)


def _hint(text: str, known: Sequence[str]) -> str:
    near = nearest(text, known, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"known: {listed(known)}"

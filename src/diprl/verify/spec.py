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
from diprl.program.formula import Comparison, Formula, read_comparison, read_formula
from diprl.program.signature import Continuous
from diprl.program.tokens import Tokens, parse_linear
from diprl.system.files import read_text
from diprl.verify.exact.linear import Box, Constraint, State, exact
from diprl.verify.plants.plant import Plant

MAX_CHARACTERS = 1_000_000
MAX_NESTING = 12
_MOST_STEPS = 1_000_000
Key = TypeVar("Key")
Value = TypeVar("Value")


class SpecError(DiprlError):
    """A specification cannot be used; says where and why."""


@dataclass(frozen=True)
class Tree:
    """A text, a list, or a mapping that keeps each key with its place; its methods read what is wanted there."""

    value: "str | tuple[Tree, ...] | dict[str, tuple[Tree, Tree]]"
    line: int
    column: int

    def error(self, sentence: str) -> SpecError:
        return SpecError(f"line {self.line}: {sentence}")

    def text(self) -> str:
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.error("expected a word or a sentence here")
        return self.value.strip()

    def number(self, finite: bool = False) -> float:
        text = self.text()
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if isnan(number):
            raise self.error(f"expected a number, found '{text:.40}'")
        if finite and not isfinite(number):
            raise self.error("every number must be finite")
        return number

    def positive(self) -> float:
        number = self.number()
        if not 0.0 < number < inf:
            raise self.error(f"expected a number above zero, found {number:g}")
        return number

    def whole(self, least: int, most: int = _MOST_STEPS) -> int:
        number = self.number()
        if not least <= number <= most or number % 1:
            raise self.error(f"expected a whole number from {least} to {most}, found {number:g}")
        return int(number)

    def count(self) -> int:
        return self.whole(1)

    def items(self, read: "Callable[[Tree], Value]") -> tuple[Value, ...]:
        """The items of a list; a single item stands for a list of one."""
        return tuple(map(read, self.value if isinstance(self.value, tuple) else (self,)))

    def name(self, names: Sequence[str], kind: str) -> str:
        text = self.text()
        if text not in names:
            raise self.error(f"'{text:.40}' is not {kind}: {_hint(text, names)}")
        return text

    def index(self, names: Sequence[str], kind: str) -> int:
        return names.index(self.name(names, kind))

    def entries(self) -> "dict[str, tuple[Tree, Tree]]":
        if not isinstance(self.value, dict):
            raise self.error("expected names with values, such as {name: …}")
        return self.value

    def mapping(self, key: "Callable[[Tree], Key]", read: "Callable[[Tree], Value]") -> dict[Key, Value]:
        """What is said about some names."""
        return {key(name): read(entry) for name, entry in self.entries().values()}

    def interval(self, finite: bool = False) -> tuple[float, float]:
        """`[low, high]`, or one number for both."""
        numbers = self.items(lambda item: item.number(finite))
        if len(numbers) not in (1, 2) or numbers[0] > numbers[-1] or numbers[0] == inf or numbers[-1] == -inf:
            raise self.error("expected an interval such as [-1, 1]")
        return numbers[0], numbers[-1]

    def formula(self, names: Sequence[str]) -> Formula:
        return read_formula(self.text(), names, self.line, self.column)

    def comparisons(self, names: Sequence[str]) -> tuple[Comparison, ...]:
        """One comparison of formulas per item."""
        return self.items(lambda item: read_comparison(item.text(), names, item.line, item.column))

    def constraint(self, names: Sequence[str], kind: str) -> Constraint:
        """Read `2*x - y > 0.5`, with >, <, >= or <=; `kind` says in errors what the names are."""
        text = self.text()
        tokens = Tokens(text, self.line, self.column)
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
            raise self.error(f"the numbers of '{text:.40}' are too large")
        *weights, bias = exact(numbers)
        return Constraint(tuple(weights), bias, len(comparison.text) == 1, text)


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

    def choice(self, key: str, names: Sequence[str], kind: str, *default: str) -> str:
        return self.take(key, lambda tree: tree.name(names, kind), *default)

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
        return tree.index(self.features, "a feature name")

    def action(self, tree: Tree) -> int:
        return tree.index(self.actions, "an output" if self.continuous else "an action name")

    def conditions(self, tree: Tree) -> tuple[Constraint, ...]:
        """One inequality over features per item, all of which must hold."""
        return tree.items(lambda item: item.constraint(self.features, "a feature name"))

    def output_condition(self, tree: Tree) -> Constraint:
        return tree.constraint(self.actions, "an output name")

    def inner_box(self, tree: Tree) -> Box:
        """Intervals for some of the features, within the box."""
        low, high = list(self.box.low), list(self.box.high)
        sides = tree.mapping(self.feature, lambda entry: (entry, *entry.interval()))
        for index, (entry, first, last) in sides.items():
            low[index], high[index] = max(low[index], first), min(high[index], last)
            if low[index] > high[index]:
                name, least, most = self.features[index], self.box.low[index], self.box.high[index]
                sentence = f"{name} in [{first:g}, {last:g}] leaves nothing of [{least:g}, {most:g}]"
                raise entry.error(f"{sentence}, where {name} lies by the box or its bounds")
        return Box(tuple(low), tuple(high))

    def output_box(self, tree: Tree) -> Box:
        sides = tree.mapping(self.action, Tree.interval)
        low, high = zip(*(sides.get(output, (-inf, inf)) for output in range(len(self.actions))), strict=True)
        return Box(low, high)

    def state(self, tree: Tree) -> State:
        """A finite number for every feature."""
        values = tree.mapping(self.feature, Tree.number)
        missing = [name for index, name in enumerate(self.features) if index not in values]
        if missing or not all(map(isfinite, values.values())):
            problem = f"{missing[0]} is missing" if missing else "every number must be finite"
            raise tree.error(f"a state gives a number for every feature: {problem}")
        return tuple(values[index] for index in range(len(self.features)))

    def scales(self) -> State:
        """Positive numbers for some of the features, under 'scales:'; the others have scale 1."""
        values = self.take("scales", lambda tree: tree.mapping(self.feature, Tree.positive), {})
        return tuple(values.get(index, 1.0) for index in range(len(self.features)))


def read_file(path: Path, read: Callable[[str], Value]) -> Value:
    """What a file says; errors name the file and, where they can, the line."""
    text = read_text(path)
    try:
        return read(text)
    except DiprlError as error:
        raise SpecError(f"{path}: {error}") from None


def _hint(text: str, known: Sequence[str]) -> str:
    near = nearest(text, known, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"known: {listed(known)}"

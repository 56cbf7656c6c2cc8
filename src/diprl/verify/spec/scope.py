"""What names mean in a specification: the features and actions of one program, and the box they are asked about."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite
from pathlib import Path

from diprl.program import Program
from diprl.program.linear_text import parse_linear
from diprl.program.signature import Continuous
from diprl.program.tokens import Tokens
from diprl.verify.exact.box import Box, State
from diprl.verify.exact.constraint import Constraint, exact
from diprl.verify.spec.fields import (
    Fields,
    read_index,
    read_interval,
    read_list,
    read_number,
    read_pairs,
    read_positive,
    read_text,
)
from diprl.verify.spec.tree import Scalar, SpecError, Tree


@dataclass(frozen=True)
class Scope:
    """Reads the parts of a property that speak of features and actions."""

    program: Program
    box: Box
    folder: Path
    """Where other programs are looked for."""

    @property
    def features(self) -> tuple[str, ...]:
        return self.program.signature.feature_names

    @property
    def actions(self) -> tuple[str, ...]:
        return self.program.signature.actions.names

    @property
    def continuous(self) -> bool:
        return isinstance(self.program.signature.actions, Continuous)

    def feature(self, tree: Tree) -> int:
        return read_index(tree, self.features, "a feature name")

    def feature_list(self, tree: Tree) -> tuple[int, ...]:
        return tuple(map(self.feature, read_list(tree)))

    def action(self, tree: Tree) -> int:
        return read_index(tree, self.actions, "an action name")

    def action_list(self, tree: Tree) -> tuple[int, ...]:
        return tuple(map(self.action, read_list(tree)))

    def conditions(self, tree: Tree) -> tuple[Constraint, ...]:
        """One inequality over features per item, all of which must hold."""
        items = read_list(tree)
        return tuple(read_constraint(item, self.features, "a feature name") for item in items)

    def output_condition(self, tree: Tree) -> Constraint:
        return read_constraint(tree, self.actions, "an output name")

    def inner_box(self, tree: Tree) -> Box:
        """Intervals for some of the features, within the box."""
        low, high = list(self.box.low), list(self.box.high)
        for index, interval in read_pairs(tree, self.features, "a feature name"):
            first, last = read_interval(interval)
            low[index], high[index] = max(low[index], first), min(high[index], last)
            if low[index] > high[index]:
                name = self.features[index]
                raise SpecError(
                    f"line {interval.line}: {name} in [{first:g}, {last:g}] leaves nothing of "
                    f"[{self.box.low[index]:g}, {self.box.high[index]:g}], where {name} lies by the box or its bounds"
                )
        return Box(tuple(low), tuple(high))

    def state(self, tree: Tree) -> State:
        """A finite number for every feature."""
        pairs = read_pairs(tree, self.features, "a feature name")
        values = {index: read_number(entry) for index, entry in pairs}
        missing = [name for index, name in enumerate(self.features) if index not in values]
        if missing or not all(abs(value) < inf for value in values.values()):
            problem = f"{missing[0]} is missing" if missing else "every number must be finite"
            raise SpecError(f"line {tree.line}: a state gives a number for every feature: {problem}")
        return tuple(values[index] for index in range(len(self.features)))

    def scales(self, fields: Fields) -> State:
        """Positive numbers for some of the features, under 'scales:'; the others have scale 1."""

        def read(tree: Tree) -> State:
            pairs = read_pairs(tree, self.features, "a feature name")
            values = {index: read_positive(entry) for index, entry in pairs}
            return tuple(values.get(index, 1.0) for index in range(len(self.features)))

        return fields.take("scales", read, (1.0,) * len(self.features))


def read_constraint(tree: Tree, names: tuple[str, ...], kind: str) -> Constraint:
    """Read `2*x - y > 0.5`, with >, <, >= or <=; `kind` says in errors what the names are."""
    text = read_text(tree)
    tokens = Tokens(text, tree.line, tree.column if isinstance(tree, Scalar) else 1)
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
        raise SpecError(f"line {tree.line}: the numbers of '{text:.40}' are too large")
    *weights, bias = exact(numbers)
    return Constraint(tuple(weights), Fraction(bias), len(comparison.text) == 1, text)

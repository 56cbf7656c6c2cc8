"""Prints programs as text that reads like Python and parses back to the same program."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from diprl.program.ast import Act, Blend, Condition, Node, Terminal
from diprl.program.paths import statements
from diprl.program.sets import values_of
from diprl.program.signature import Continuous, Discrete, Feature, Primitives, Signature, outputs

_WIDTH = 110
_BARE = re.compile(r"[^\[\]\"#\s](?:[^\[\]\"#]*[^\[\]\"#\s])?")


def short_number(value: float) -> str:
    """The shortest digits that read back exactly; whole numbers need no point."""
    return repr(value).removesuffix(".0")


@dataclass(frozen=True)
class Notation:
    """How a language writes linear forms and the lines of a program."""

    number: Callable[[float], str] = short_number
    """Prints a number that is not negative."""
    times: str = "*"
    name: Callable[[str], str] = str
    """Prints the name of a feature, an output or an action."""
    lines: Mapping[str, str] = field(default_factory=dict)
    """The lines of if, elif, else and end, where the language has them; {} is the form of a condition."""
    space: str = "    "
    """What a line begins with for each `if` around it."""
    returning: bool = False
    """Whether each leaf returns, so that no line needs `else`."""
    product: str = "{}"
    """What surrounds a product."""
    sets: bool = False
    """Whether a condition on the values of one thing is written as a set, and any other one as `form > 0`."""


TEXT = Notation(lines={"if": "if {}:", "elif": "elif {}:", "else": "else:"}, sets=True)


def format_linear(weights: Sequence[float], bias: float, names: Sequence[str], notation: Notation = TEXT) -> str:
    """Print a linear form in the order in which it is added, with digits that read back exactly."""
    text = ""
    for weight, name in zip((*weights, bias), (*map(notation.name, names), ""), strict=True):
        if weight == 0.0:
            continue
        sign = ("-" if weight < 0.0 else "") if not text else (" - " if weight < 0.0 else " + ")
        factor = "" if name and abs(weight) == 1.0 else notation.number(abs(weight))
        text += sign + (notation.product.format(factor + notation.times + name) if factor and name else factor + name)
    return text or notation.number(0.0)


def format_program(signature: Signature, root: Node, task: str = "") -> str:
    """The whole text: version, head and body."""
    head = ["# diprl program 1", *format_header(signature, task)]
    return "\n".join([*head, "", *format_body(signature, root)]) + "\n"


def format_header(signature: Signature, task: str = "") -> list[str]:
    """The lines that name the task, the features and the actions."""
    lines = [f"task: {_text(task)}"] if task else []
    lines += _entry("features", [described(feature, _text, _quote) for feature in signature.features])
    actions = signature.actions
    if isinstance(actions, Discrete):
        return lines + _entry("actions", actions.names)
    if isinstance(actions, Continuous):
        return lines + _entry("outputs", [described(output, _text, _quote) for output in outputs(actions)])
    return lines + _entry("primitives", actions.names) + _entry("actuators", _actuators(actions))


def format_body(signature: Signature, root: Node) -> Iterator[str]:
    """The lines of the if/elif/else chain; a bare action is a single line."""
    return format_lines(root, signature.feature_names, lambda leaf: format_terminal(leaf, signature))


def format_lines(
    root: Node,
    features: Sequence[str],
    leaf: Callable[[Terminal], Iterable[str]],
    notation: Notation = TEXT,
    level: int = 0,
) -> Iterator[str]:
    """A program as indented lines of some language; `leaf` prints a terminal."""
    for indent, kind, condition, terminal in statements(root, notation.returning):
        if terminal is not None:
            lines = leaf(terminal)
        elif condition is not None:
            lines = [notation.lines[kind].format(format_test(condition, features, notation))]
        else:
            lines = [notation.lines[kind]] if kind in notation.lines else []
        yield from (notation.space * (indent + level) + line for line in lines)


def format_test(condition: Condition, features: Sequence[str], notation: Notation) -> str:
    """What a line of the language asks: the bare form, or a whole comparison where the notation has sets."""
    if notation.sets and (found := values_of(condition, features)):
        return f"{found.name}{'' if found.inside else ' not'} in {{{', '.join(map(str, found.values))}}}"
    form = format_linear(condition.weights, condition.bias, features, notation)
    return f"{form} > 0" if notation.sets else form


def format_condition(condition: Condition, signature: Signature, notation: Notation = TEXT) -> str:
    return format_test(condition, signature.feature_names, replace(notation, sets=True))


def format_terminal(leaf: Terminal, signature: Signature, notation: Notation = TEXT) -> list[str]:
    """One line per terminal, or per output of an affine one."""
    names = signature.actions.names
    if isinstance(leaf, Act):
        return [notation.name(names[leaf.action])]
    if isinstance(leaf, Blend):
        return [format_linear(leaf.weights, 0.0, names, notation)]
    rows = zip(map(notation.name, names), leaf.weights, leaf.bias, strict=True)
    return [f"{name} = {format_linear(row, bias, signature.feature_names, notation)}" for name, row, bias in rows]


def _entry(key: str, items: Sequence[str]) -> list[str]:
    """One line where it fits, else one line per item."""
    line = f"{key}: {', '.join(items)}".rstrip()
    return [line] if len(line) <= _WIDTH else [f"{key}:", *(f"    {item}" for item in items)]


def described(feature: Feature, unit: Callable[[str], str] = str, meaning: Callable[[str], str] = str) -> str:
    """Name, unit, range and meaning of a feature, such as `level [m] in [0.0, 2.0]: height of the water`."""
    measured = f" [{unit(feature.unit)}]" if feature.unit else ""
    bounds = f" in [{feature.low!r}, {feature.high!r}]" if (feature.low, feature.high) != (-inf, inf) else ""
    return feature.name + measured + bounds + (f": {meaning(feature.meaning)}" if feature.meaning else "")


def _actuators(actions: Primitives) -> list[str]:
    pairs = list(zip(actions.low, actions.high, strict=True))
    if len(set(pairs)) == 1:
        return [f"{len(pairs)} in [{pairs[0][0]!r}, {pairs[0][1]!r}]"]
    return [f"[{low!r}, {high!r}]" for low, high in pairs]


def _text(text: str) -> str:
    """The text as it is where that reads back, else quoted."""
    return text if _BARE.fullmatch(text) and text.isprintable() else _quote(text)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=not text.isprintable())

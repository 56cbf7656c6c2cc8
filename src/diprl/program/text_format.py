"""Prints programs as text that reads like Python and parses back to the same program."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from diprl.program.ast import Act, Blend, Condition, Node, Terminal
from diprl.program.paths import statements
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


TEXT = Notation(lines={"if": "if {} > 0:", "elif": "elif {} > 0:", "else": "else:"})


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
    lines += _entry("features", [_feature(feature) for feature in signature.features])
    actions = signature.actions
    if isinstance(actions, Discrete):
        return lines + _entry("actions", actions.names)
    if isinstance(actions, Continuous):
        return lines + _entry("outputs", [_feature(output) for output in outputs(actions)])
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
            form = format_linear(condition.weights, condition.bias, features, notation)
            lines = [notation.lines[kind].format(form)]
        else:
            lines = [notation.lines[kind]] if kind in notation.lines else []
        yield from (notation.space * (indent + level) + line for line in lines)


def format_condition(condition: Condition, signature: Signature, notation: Notation = TEXT) -> str:
    form = format_linear(condition.weights, condition.bias, signature.feature_names, notation)
    return f"{form} > 0"


def format_terminal(leaf: Terminal, signature: Signature, notation: Notation = TEXT) -> list[str]:
    """One line per terminal, or per output of an affine one."""
    names = signature.actions.names
    if isinstance(leaf, Act):
        return [notation.name(names[leaf.action])]
    if isinstance(leaf, Blend):
        return [format_linear(leaf.weights, 0.0, names, notation)]
    return [
        f"{notation.name(name)} = {format_linear(row, bias, signature.feature_names, notation)}"
        for name, row, bias in zip(names, leaf.weights, leaf.bias, strict=True)
    ]


def _entry(key: str, items: Sequence[str]) -> list[str]:
    """One line where it fits, else one line per item."""
    line = f"{key}: {', '.join(items)}".rstrip()
    return [line] if len(line) <= _WIDTH else [f"{key}:", *(f"    {item}" for item in items)]


def _feature(feature: Feature) -> str:
    unit = f" [{_text(feature.unit)}]" if feature.unit else ""
    bounded = feature.low != -inf or feature.high != inf
    bounds = f" in [{feature.low!r}, {feature.high!r}]" if bounded else ""
    return feature.name + unit + bounds + (f": {_quote(feature.meaning)}" if feature.meaning else "")


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

"""YAML as a small tree of text with line numbers: bounded, without aliases or tags, nothing constructed.

Scalars stay text until a field says what it wants, so `1e-3` is a number and `no` may name an action.
"""

from dataclasses import dataclass
from typing import Any

from diprl.errors import DiprlError

MAX_CHARACTERS = 1_000_000
MAX_NESTING = 12


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
    try:
        import yaml
    except ImportError:
        raise DiprlError("specifications need PyYAML: install it with: pip install 'diprl[verify]'") from None
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

"""Reads program text, as printed or as edited by hand.

Accepted beyond what is printed: any spacing, comments, terms in any order and repeated, `x*2` and `x/2`,
parentheses, `<`, terms on the right of the comparison, `else:` with an `if` inside, and a branch on the line
of its condition.
"""

import re
from dataclasses import dataclass, field
from functools import reduce

from diprl.errors import ProgramError
from diprl.program.ast import Act, Affine, Blend, Condition, If, Node, Terminal
from diprl.program.check import MAX_NESTING, canonical_signature
from diprl.program.linear_text import Linear, parse_linear
from diprl.program.signature import Continuous, Discrete, Signature
from diprl.program.text_header import parse_signature, parse_task, split_header
from diprl.program.tokens import MAX_CHARACTERS, Token, Tokens

_VERSION = re.compile(r"#\s*diprl program (\d{1,9})\s*$")


@dataclass
class _Chain:
    """An if/elif/else that is still being read."""

    indent: int
    arms: list[tuple[Condition, Node]] = field(default_factory=list)
    condition: Condition | None = None
    """The condition whose branch comes next; None after `else`."""
    waiting: bool = True
    """Whether the next line belongs to a branch."""


@dataclass(frozen=True)
class _Line:
    indent: int
    tokens: Tokens


def parse_text(text: str, signature: Signature | None = None) -> tuple[Signature, Node, str]:
    """The signature, the root and the task of program text; text without a head needs a signature."""
    if len(text) > MAX_CHARACTERS:
        raise ProgramError(f"the program is longer than {MAX_CHARACTERS} characters")
    lines = text.removeprefix("\ufeff").split("\n")
    _check_version(lines[0])
    header, start = split_header(lines)
    found = parse_signature(header)
    if found is None and signature is None:
        raise ProgramError(
            "the program has no 'features:' and 'actions:' lines: add them, or pass a signature"
        )
    given = canonical_signature(signature) if signature else None
    found = canonical_signature(found) if found else given
    if found is None or (given is not None and found != given):
        raise ProgramError("the program's header differs from the signature that it should have")
    root = parse_body("\n".join(lines[start:]), found, min(start + 1, len(lines)))
    return found, root, parse_task(header)


def parse_body(text: str, signature: Signature, first_line: int = 1) -> Node:
    """The node that the lines of an if/elif/else chain, or a single action, describe."""
    lines = _Lines(text, first_line)
    stack: list[_Chain] = []
    root: Node | None = None
    while root is None:
        line = lines.take()
        node = _read_line(line, lines, stack, signature)
        if node is not None:
            root = _deliver(node, stack)
    extra = lines.peek()
    if extra is not None:
        raise extra.tokens.current.error("the end of the program")
    return root


class _Lines:
    """The lines of a body that say something, one after the other."""

    def __init__(self, text: str, first_line: int) -> None:
        self._lines = [
            _Line(len(raw) - len(raw.lstrip()), Tokens(raw, number))
            for number, raw in enumerate(text.expandtabs(4).split("\n"), first_line)
            if raw.strip() and not raw.lstrip().startswith("#")
        ]
        self._lines.reverse()
        last = text.rsplit("\n", 1)[-1]
        self._end = Token("end", "", first_line + text.count("\n"), len(last.rstrip()) + 1)

    def peek(self) -> _Line | None:
        return self._lines[-1] if self._lines else None

    def take(self, expected: str = "an action, 'if' or 'else'") -> _Line:
        if not self._lines:
            raise self._end.error(expected, hint="the program is not complete")
        return self._lines.pop()

    def put_back(self, line: _Line) -> None:
        self._lines.append(line)


def _read_line(line: _Line, lines: _Lines, stack: list[_Chain], signature: Signature) -> Node | None:
    """Advance by one line: open a chain or a branch, or return a terminal."""
    first = line.tokens.current
    chain = stack[-1] if stack else None
    if chain is not None and not chain.waiting:
        if line.indent != chain.indent or first.text not in ("elif", "else"):
            raise first.error(
                "'elif' or 'else'" + (" at the indentation of its 'if'" if first.text[:2] == "el" else "")
            )
        _open_branch(chain, line, lines, signature)
        return None
    if chain is not None and line.indent <= chain.indent:
        raise first.error("an indented branch")
    if first.text == "if":
        if len(stack) > MAX_NESTING:
            raise first.error(f"at most {MAX_NESTING} nested ifs")
        stack.append(_Chain(line.indent))
        _open_branch(stack[-1], line, lines, signature)
        return None
    return _terminal(line, lines, signature)


def _open_branch(chain: _Chain, line: _Line, lines: _Lines, signature: Signature) -> None:
    """Read `if B:`, `elif B:` or `else:`; what follows on the line becomes a line of its own, further in."""
    keyword = line.tokens.advance()
    chain.condition = None if keyword.text == "else" else _condition(line.tokens, signature)
    chain.waiting = True
    line.tokens.expect(":")
    if not line.tokens.ended:
        lines.put_back(_Line(chain.indent + 1, line.tokens))


def _deliver(node: Node, stack: list[_Chain]) -> Node | None:
    """Give a finished node to the branch that waits for it; returns the root once every chain is closed."""
    while stack:
        chain = stack[-1]
        chain.waiting = False
        if chain.condition is not None:
            chain.arms.append((chain.condition, node))
            return None
        stack.pop()
        node = reduce(lambda orelse, arm: If(arm[0], arm[1], orelse), reversed(chain.arms), node)
    return node


def _condition(tokens: Tokens, signature: Signature) -> Condition:
    names = signature.feature_names
    left = parse_linear(tokens, names, "a feature name")
    comparison = tokens.current
    if comparison.text in (">=", "<=", "==", "!="):
        raise comparison.error("'>' or '<'", hint="conditions are strict comparisons")
    if not tokens.accept(">", "<"):
        raise comparison.error("'>'", hint=_missing_star(comparison, names))
    right = parse_linear(tokens, names, "a feature name")
    greater, smaller = (left, right) if comparison.text == ">" else (right, left)
    greater.add(smaller, -1.0)
    return Condition(greater.weights(names), greater.constant)


def _missing_star(token: Token, names: tuple[str, ...]) -> str:
    return f"write *{token.text} to multiply" if token.text in names else ""


def _terminal(line: _Line, lines: _Lines, signature: Signature) -> Terminal:
    actions = signature.actions
    if isinstance(actions, Continuous):
        return _affine(line, lines, signature)
    if isinstance(actions, Discrete):
        token = line.tokens.advance()
        if token.text not in actions.names:
            raise token.error("an action name", actions.names)
        line.tokens.expect_end()
        return Act(actions.names.index(token.text))
    first = line.tokens.current
    mix = parse_linear(line.tokens, actions.names, "a primitive's name")
    line.tokens.expect_end()
    if mix.constant != 0.0:
        raise first.error("weighted primitives only", hint="a blend has no constant")
    return Blend(mix.weights(actions.names))


def _affine(line: _Line, lines: _Lines, signature: Signature) -> Affine:
    """Read one `output = expression` line per output, in any order."""
    outputs, rows = signature.actions.names, dict[str, Linear]()
    indent = line.indent
    while True:
        name = line.tokens.advance()
        if name.text not in outputs or name.text in rows:
            raise name.error("an output that is not set yet", set(outputs) - rows.keys())
        line.tokens.expect("=")
        rows[name.text] = parse_linear(line.tokens, signature.feature_names, "a feature name")
        line.tokens.expect_end()
        if len(rows) == len(outputs):
            break
        line = lines.take("a line for each output")
        if line.indent != indent:
            raise line.tokens.current.error(f"a line for output {next(n for n in outputs if n not in rows)}")
    names = signature.feature_names
    return Affine(tuple(rows[n].weights(names) for n in outputs), tuple(rows[n].constant for n in outputs))


def _check_version(line: str) -> None:
    match = _VERSION.match(line)
    if match and int(match[1]) != 1:
        raise ProgramError(f"the program is of version {match[1]}, this diprl reads version 1: update diprl")

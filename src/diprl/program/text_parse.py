"""Reads program text, as printed or as edited by hand.

Accepted beyond what is printed: any spacing, comments, terms in any order and repeated, `x*2` and `x/2`,
parentheses, sets in any order, `<`, terms on the right of the comparison, `else:` with an `if` inside, and a branch
on the line of its condition.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diprl.errors import ProgramError
from diprl.program.ast import Act, Affine, Blend, Condition, Item, Node, Terminal, assemble
from diprl.program.check import MAX_NESTING, bounded, canonical_signature
from diprl.program.sets import set_terms
from diprl.program.signature import Continuous, Discrete, Signature
from diprl.program.text_header import parse_signature, parse_task, split_header
from diprl.program.tokens import MAX_CHARACTERS, Linear, Names, Token, Tokens, parse_linear

_ONE = "a condition is one comparison: put the second one in an"
_JOINED = {"or": f"{_ONE} 'elif' with the same action"}
_JOINED |= dict.fromkeys(("and", "<", ">"), f"{_ONE} 'if' inside the branch")
"""Words that people put between two comparisons, and what to write instead."""
END = -1
"""The indentation of the empty line after the last one."""
_VERSION = re.compile(r"#\s*diprl program (\d{1,9})\s*$")


@dataclass
class _Chain:
    """An if/elif/else that is still being read."""

    indent: int
    keyword: str = "if"
    """Which of if, elif and else was read last."""
    waiting: bool = True
    """Whether the next line belongs to its branch."""


def parse_text(text: str, signature: Signature | None = None) -> tuple[Signature, Node, str]:
    """The signature, the root and the task of program text; text without a head needs a signature."""
    if len(text) > MAX_CHARACTERS:
        raise ProgramError(f"the program is longer than {MAX_CHARACTERS} characters")
    lines = text.removeprefix("\ufeff").split("\n")
    version = _VERSION.match(lines[0])
    if version and int(version[1]) != 1:
        raise ProgramError(f"the program is of version {version[1]}, this diprl reads version 1: update diprl")
    header, start = split_header(lines)
    found = parse_signature(header)
    if found is None and signature is None:
        raise ProgramError("the program has no 'features:' and 'actions:' lines: add them, or pass a signature")
    given = canonical_signature(signature) if signature else None
    found = canonical_signature(found) if found else given
    if found is None or (given is not None and found != given):
        raise ProgramError("the program's header differs from the signature that it should have")
    root = parse_body("\n".join(lines[start:]), found, min(start + 1, len(lines)))
    return found, root, parse_task(header)


def parse_body(text: str, signature: Signature, first_line: int = 1) -> Node:
    """The node that the lines of an if/elif/else chain, or a single action, describe."""
    return assemble(bounded(_items(_split_lines(text, first_line), signature)))


def _items(lines: Iterator[Tokens], signature: Signature) -> Iterator[Item]:
    """Conditions and terminals in printing order."""
    features = dict.fromkeys(signature.feature_names)
    actions = {name: number for number, name in enumerate(signature.actions.names)}
    kind, chains, empty = type(signature.actions), list[_Chain](), True
    while chains or empty:
        line, empty = _take(lines, "an action, 'if' or 'else'"), False
        if keyword := _open_branch(line, chains):
            if keyword.text != "else":
                yield _condition(line, features)
            line.expect(":")
        else:
            yield _terminal(line, lines, kind, features, actions)
            _close_branches(chains)
    if (line := next(lines)).indent != END:
        raise line.current.error("the end of the program")


def _split_lines(text: str, first_line: int) -> Iterator[Tokens]:
    """The lines of a body that say something, then an empty one, each read when it is asked for.

    What follows the colon of a condition is a line of its own, further in.
    """
    number, last = first_line, ""
    for number, last in enumerate(text.expandtabs(4).split("\n"), first_line):
        code = last.split("#")[0].rstrip()
        indent = len(code) - len(code.lstrip())
        for level, part in enumerate(re.finditer(r"[^:]*:|[^:]+", code)):
            yield Tokens(part.group(), number, part.start() + 1, indent + level)
    yield Tokens("", number, len(last.rstrip()) + 1, END)


def _take(lines: Iterator[Tokens], expected: str) -> Tokens:
    line = next(lines)
    if line.indent == END:
        raise line.current.error(expected, hint="the program is not complete")
    return line


def _open_branch(line: Tokens, chains: list[_Chain]) -> Token | None:
    """The `if`, `elif` or `else` that the line begins with; None where it is a terminal."""
    first = line.current
    chain = chains[-1] if chains else None
    if chain is not None and not chain.waiting:
        if line.indent != chain.indent or first.text not in ("elif", "else"):
            where = " at the indentation of its 'if'" if first.text[:2] == "el" else ""
            raise first.error(f"'elif' or 'else'{where}")
    elif chain is not None and line.indent <= chain.indent:
        raise first.error("an indented branch")
    elif first.text != "if":
        return None
    elif len(chains) > MAX_NESTING:
        raise first.error(f"at most {MAX_NESTING} nested ifs")
    else:
        chain = _Chain(line.indent)
        chains.append(chain)
    chain.keyword, chain.waiting = first.text, True
    return line.advance()


def _close_branches(chains: list[_Chain]) -> None:
    """After a terminal: every chain that has its `else` is complete, the one around them goes on."""
    while chains and chains[-1].keyword == "else":
        chains.pop()
    if chains:
        chains[-1].waiting = False


def _condition(tokens: Tokens, features: Names) -> Condition:
    if tokens.current.kind == "name" and tokens.current.text not in features:
        return _set(tokens, features)
    left = parse_linear(tokens, features, "a feature name")
    comparison = tokens.current
    if comparison.text in (">=", "<=", "==", "!="):
        raise comparison.error("'>' or '<'", hint="conditions are strict comparisons")
    if not tokens.accept(">", "<"):
        hint = f"write *{comparison.text} to multiply" if comparison.text in features else ""
        raise comparison.error("'>'", hint=hint)
    right = parse_linear(tokens, features, "a feature name")
    if tokens.current.text in _JOINED:
        raise tokens.current.error("':'", hint=_JOINED[tokens.current.text])
    greater, smaller = (left, right) if comparison.text == ">" else (right, left)
    greater.add(smaller, -1.0)
    return Condition(greater.weights(features), greater.constant)


def _set(tokens: Tokens, features: Names) -> Condition:
    """Read `state in {3, 7, 9}` or `state not in {3, 7, 9}`."""
    name, negative = tokens.advance(), tokens.accept("not")
    if not tokens.accept("in"):
        raise name.error("a feature name", features)
    tokens.expect("{")
    values = set[int]()
    while not values or tokens.accept(","):
        value = tokens.advance()
        if f"{name.text}_is_{value.text}" not in features:
            raise value.error(f"a value of {name.text}", hint="" if values else "a set has the values of one thing")
        values.add(int(value.text))
    tokens.expect("}")
    terms, bias = set_terms(name.text, values, not negative)
    return Condition(tuple(terms.get(feature, 0.0) for feature in features), bias)


def _terminal(line: Tokens, lines: Iterator[Tokens], kind: type, features: Names, actions: dict[str, int]) -> Terminal:
    if kind is Continuous:
        return _affine(line, lines, features, actions)
    if kind is Discrete:
        token = line.advance()
        if token.text not in actions:
            raise token.error("an action name", actions)
        line.expect_end()
        return Act(actions[token.text])
    first = line.current
    mix = parse_linear(line, actions, "a primitive's name")
    line.expect_end()
    if mix.constant != 0.0:
        raise first.error("weighted primitives only", hint="a blend has no constant")
    return Blend(mix.weights(actions))


def _affine(line: Tokens, lines: Iterator[Tokens], features: Names, outputs: Names) -> Affine:
    """Read one `output = expression` line per output, in any order."""
    rows, indent = dict[str, Linear](), line.indent
    while True:
        name = line.advance()
        if name.text not in outputs or name.text in rows:
            raise name.error("an output that is not set yet", outputs.keys() - rows.keys())
        line.expect("=")
        rows[name.text] = parse_linear(line, features, "a feature name")
        line.expect_end()
        if len(rows) == len(outputs):
            break
        line = _take(lines, "a line for each output")
        if line.indent != indent:
            raise line.current.error(f"a line for output {next(n for n in outputs if n not in rows)}")
    return Affine(tuple(rows[n].weights(features) for n in outputs), tuple(rows[n].constant for n in outputs))

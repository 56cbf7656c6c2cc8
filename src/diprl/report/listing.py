"""The program as lines of HTML: numbers rounded for reading, the exact ones underneath."""

from collections.abc import Sequence
from dataclasses import dataclass

from diprl.export.svg import leaf_colours
from diprl.program import Act, Affine, Blend, Program, Terminal
from diprl.program.paths import leaf_paths, statements
from diprl.program.rounding import round_number

DIGITS = 3


@dataclass(frozen=True)
class Term:
    """One product of a linear form."""

    sign: str
    """Empty, + or −, with a minus of typographical length."""
    shown: str
    """The factor rounded, empty where it is one."""
    exact: str
    name: str
    """Empty for the constant."""


@dataclass(frozen=True)
class Line:
    """One line of the printed program."""

    indent: int
    word: str
    """if, elif, else, or empty for a terminal."""
    forms: tuple[tuple[str, tuple[Term, ...]], ...]
    """The linear forms on the line, each with the output it sets; conditions and blends set none."""
    number: int | None = None
    """Which condition or which branch it is, counting from zero."""
    colour: str = ""
    """The branch's colour."""


@dataclass(frozen=True)
class Branch:
    """A terminal as the page speaks of it."""

    number: int
    text: str
    colour: str
    path: tuple[tuple[int, bool], ...]
    """The conditions on the way to it and whether each holds."""


def lines(program: Program) -> list[Line]:
    """The program from top to bottom."""
    features = program.signature.feature_names
    colours = leaf_colours(program)
    found: list[Line] = []
    conditions = branches = 0
    for indent, kind, condition, leaf in statements(program.root):
        if condition is not None:
            form = ("", terms(condition.weights, condition.bias, features))
            found.append(Line(indent, kind, (form,), conditions))
            conditions += 1
        elif kind == "else":
            found.append(Line(indent, kind, ()))
        elif leaf is not None:
            found.append(Line(indent, "", leaf_forms(leaf, program), branches, colours[leaf]))
            branches += 1
    return found


def branches(program: Program) -> list[Branch]:
    """The terminals in the order in which they are printed."""
    colours = leaf_colours(program)
    return [
        Branch(
            number,
            leaf_text(leaf, program),
            colours[leaf],
            tuple((decision.number, decision.holds) for decision in path),
        )
        for number, (leaf, path) in enumerate(leaf_paths(program.root))
    ]


def leaf_forms(leaf: Terminal, program: Program) -> tuple[tuple[str, tuple[Term, ...]], ...]:
    names = program.signature.actions.names
    if isinstance(leaf, Act):
        return (("", (Term("", "", "", names[leaf.action]),)),)
    if isinstance(leaf, Blend):
        return (("", terms(leaf.weights, 0.0, names)),)
    assert isinstance(leaf, Affine)  # the only kind left
    features = program.signature.feature_names
    rows = zip(names, leaf.weights, leaf.bias, strict=True)
    return tuple((name, terms(weights, bias, features)) for name, weights, bias in rows)


def leaf_text(leaf: Terminal, program: Program) -> str:
    """What a terminal does, in a few words."""
    parts = []
    for output, form in leaf_forms(leaf, program):
        text = " ".join(f"{term.sign} {term_text(term)}" if term.sign else term_text(term) for term in form)
        parts.append(f"{output} = {text}" if output else text)
    return "; ".join(parts)


def term_text(term: Term) -> str:
    return f"{term.shown}·{term.name}" if term.shown and term.name else term.shown or term.name


def terms(weights: Sequence[float], bias: float, names: Sequence[str]) -> tuple[Term, ...]:
    """The non-zero products in the order in which they are added."""
    found = []
    for weight, name in zip((*weights, bias), (*names, ""), strict=True):
        if weight == 0.0:
            continue
        sign = "−" if weight < 0 else "+" if found else ""
        one = abs(weight) == 1.0 and name
        found.append(Term(sign, "" if one else short(abs(weight)), "" if one else repr(abs(weight)), name))
    return tuple(found) or (Term("", "0", "0.0", ""),)


def short(value: float) -> str:
    """A few significant digits, without an exponent where that is still short."""
    rounded = round_number(value, DIGITS)
    return f"{rounded:.0f}" if 100 <= abs(rounded) < 1e5 else f"{rounded:g}"

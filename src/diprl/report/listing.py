"""The program as lines for the page: numbers rounded for reading, the exact ones underneath."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from diprl.export.svg import leaf_colours
from diprl.program import Act, Affine, Blend, Program, Terminal
from diprl.program.edit import round_number
from diprl.program.paths import statements

DIGITS = 3


class Term(NamedTuple):
    """One product of a linear form."""

    sign: str
    """Empty, + or a true minus sign."""
    shown: str
    """The factor rounded, empty where it is one."""
    exact: str
    name: str
    """Empty for the constant."""


@dataclass(frozen=True)
class Line:
    """One line of the printed program."""

    indent: int
    keyword: str
    """if, elif, else, or empty for a branch."""
    forms: tuple[tuple[str, tuple[Term, ...]], ...] = ()
    """The linear forms on the line, each with the output that it sets; a condition or a blend sets none."""
    number: int = 0
    """Which branch it is, counting from zero."""
    colour: str = ""
    """The branch's colour, such as #4477aa."""

    @property
    def style(self) -> str:
        """The class in the style sheet that brings the colour."""
        return f"colour-{self.colour[1:]}"

    @property
    def text(self) -> str:
        """What a branch does, as one line of text."""
        return "; ".join(f"{output} = {_text(form)}" if output else _text(form) for output, form in self.forms)


def lines(program: Program) -> list[Line]:
    """The program from top to bottom."""
    features, colours = program.signature.feature_names, leaf_colours(program)
    found: list[Line] = []
    branch = 0
    for indent, kind, condition, leaf in statements(program.root):
        if condition is not None:
            found.append(Line(indent, kind, (("", terms(condition.weights, condition.bias, features)),)))
        elif kind == "else":
            found.append(Line(indent, kind, ()))
        elif leaf is not None:
            found.append(Line(indent, "", leaf_forms(leaf, program), branch, colours[leaf]))
            branch += 1
    return found


def branches(program: Program) -> list[Line]:
    """The lines that act, in the order in which they are printed."""
    return [line for line in lines(program) if not line.keyword]


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


def terms(weights: Sequence[float], bias: float, names: Sequence[str]) -> tuple[Term, ...]:
    """The non-zero products in the order in which they are added."""
    found: list[Term] = []
    for weight, name in zip((*weights, bias), (*names, ""), strict=True):
        if weight == 0.0:
            continue
        sign = "−" if weight < 0 else "+" if found else ""
        size = abs(weight)
        shown, exact = ("", "") if size == 1.0 and name else (few_digits(size), repr(size))
        found.append(Term(sign, shown, exact, name))
    return tuple(found) or (Term("", "0", "0.0", ""),)


def few_digits(value: float) -> str:
    """A few significant digits, without an exponent where that is still short."""
    rounded = round_number(value, DIGITS)
    return f"{rounded:.0f}" if 100 <= abs(rounded) < 1e5 else f"{rounded:g}"


def _text(form: Sequence[Term]) -> str:
    parts = (f"{sign} {'·'.join(filter(None, (shown, name)))}".strip() for sign, shown, _, name in form)
    return " ".join(parts)

"""A formula for papers: cases for a chain, indented lines for a nested program. Needs amsmath only."""

import re
from collections.abc import Iterable

from diprl.export import structure
from diprl.export.parity import unchecked
from diprl.program import Affine, Continuous, Program, Terminal
from diprl.program.ast import conditions, is_chain, terminals
from diprl.program.signature import outputs
from diprl.program.text_format import Notation, described, format_condition, format_lines, format_terminal, short_number

_ESCAPES = {character: "\\" + character for character in "&%$#_{}"}
_ESCAPES |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def to_latex(program: Program, standalone: bool = False) -> str:
    """The formula; `standalone` wraps it into a document of its own."""
    single = len(program.signature.actions.names) == 1 or not isinstance(program.signature.actions, Continuous)
    formula = _cases(program) if single and is_chain(program.root) else _lines(program)
    if not standalone:
        return formula
    named = [*program.signature.features, *outputs(program.signature.actions)]
    comments = "".join(f"% {structure.printable(described(each))}\n" for each in named)
    return comments + structure.fill("document.tex", formula=formula)


check = unchecked("formula", "it is for reading, with every digit of the program")
render = structure.one_file("tex", lambda program, _: to_latex(program, standalone=True))


def number(value: float) -> str:
    """Every digit that the program has, with powers of ten typeset.

    >>> number(1e-05), number(2.5), number(3.0)
    ('10^{-5}', '2.5', '3')
    """
    mantissa, _, exponent = short_number(value).partition("e")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \cdot {power}"


def escape(text: str) -> str:
    """Text as it should appear, whatever characters it contains."""
    return "".join(_ESCAPES.get(character, character) for character in text)


def _cases(program: Program) -> str:
    *leaves, last = terminals(program.root)
    tests = (format_condition(condition, program.signature, _NOTATION) for condition in conditions(program.root))
    pairs = zip(leaves, tests, strict=True)
    rows = [rf"{_terminal(leaf, program)[-1]} & \text{{if }} {test}" for leaf, test in pairs]
    rows.append(_terminal(last, program)[-1] + (r" & \text{otherwise}" if rows else ""))
    left = r"a(s) = " if not isinstance(last, Affine) else ""
    return f"{left}\\begin{{cases}}\n{_joined(rows)}\n\\end{{cases}}\n"


def _lines(program: Program) -> str:
    """One line per statement, indented as in the program's text."""
    names = program.signature.feature_names
    lines = format_lines(program.root, names, lambda leaf: _terminal(leaf, program), _NOTATION)
    return f"\\begin{{array}}{{l}}\n{_joined(lines)}\n\\end{{array}}\n"


def _joined(lines: Iterable[str]) -> str:
    return (" \\\\\n").join(f"  {line}" for line in lines)


def _terminal(leaf: Terminal, program: Program) -> list[str]:
    return format_terminal(leaf, program.signature, _NOTATION)


def _name(name: str) -> str:
    """A name in text, with a trailing number as an index."""
    parts = re.fullmatch(r"(.*?[A-Za-z])_?(\d+)", name)
    stem, index = (parts[1], f"_{{{parts[2]}}}") if parts else (name, "")
    return rf"\text{{{escape(stem.replace('_', ' '))}}}{index}"


_LINES = {"if": r"\textbf{{if }} {} > 0", "elif": r"\textbf{{else if }} {} > 0", "else": r"\textbf{else}"}
_NOTATION = Notation(number, r"\,", _name, _LINES, r"\quad ")

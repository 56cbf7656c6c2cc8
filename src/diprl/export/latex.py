"""A formula for papers: cases for a chain, indented lines for a nested program. Needs amsmath only."""

import re
from collections.abc import Sequence
from pathlib import Path

from diprl.export import structure
from diprl.export.networks import Network
from diprl.export.report import Check
from diprl.export.samples import Samples
from diprl.program import Act, Affine, Blend, If, Program, Terminal

_ESCAPES = {character: "\\" + character for character in "&%$#_{}"}
_ESCAPES |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def render(program: Program, networks: Sequence[Network] = ()) -> dict[str, str]:
    return {f"{structure.prefix(program)}.tex": to_latex(program, standalone=True)}


def check(
    program: Program, files: Sequence[Path], samples: Samples, networks: Sequence[Network]
) -> list[Check]:
    return [Check("formula", note="it is for reading, with every digit of the program")]


def to_latex(program: Program, standalone: bool = False) -> str:
    """The formula; `standalone` wraps it into a document of its own."""
    formula = _cases(program) if _is_chain(program) else _lines(program)
    if not standalone:
        return formula
    head = (
        r"\documentclass[border=4pt]{standalone}"
        + "\n"
        + r"\usepackage{amsmath}"
        + "\n"
        + r"\begin{document}"
    )
    return f"{head}\n$\\displaystyle\n{formula}$\n\\end{{document}}\n"


def number(value: float) -> str:
    """Every digit that the program has, with powers of ten typeset.

    >>> number(1e-05), number(2.5), number(3.0)
    ('10^{-5}', '2.5', '3')
    """
    mantissa, _, exponent = repr(value).removesuffix(".0").partition("e")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \cdot {power}"


def escape(text: str) -> str:
    """Text as it should appear, whatever characters it contains."""
    return "".join(_ESCAPES.get(character, character) for character in text)


def _is_chain(program: Program) -> bool:
    """Whether no branch but the last holds another condition, and each terminal is a single expression."""
    node = program.root
    while isinstance(node, If):
        if isinstance(node.then, If):
            return False
        node = node.orelse
    return len(program.signature.actions.names) == 1 or not isinstance(node, Affine)


def _cases(program: Program) -> str:
    rows, node = [], program.root
    while isinstance(node, If):
        assert not isinstance(node.then, If)  # a chain
        rows.append(rf"{_terminal(node.then, program)[-1]} & \text{{if }} {_condition(node, program)}")
        node = node.orelse
    rows.append(_terminal(node, program)[-1] + (r" & \text{otherwise}" if rows else ""))
    left = r"a(s) = " if not isinstance(node, Affine) else ""
    body = (" \\\\\n").join(f"  {row}" for row in rows)
    return f"{left}\\begin{{cases}}\n{body}\n\\end{{cases}}\n"


def _lines(program: Program) -> str:
    """One line per statement, indented as in the program's text."""
    lines = []
    for indent, kind, payload in structure.chained(program.root):
        space = r"\quad " * indent
        if kind in ("if", "elif"):
            word = "if" if kind == "if" else "else if"
            lines.append(rf"{space}\textbf{{{word} }} {_form(payload.weights, payload.bias, program)} > 0")
        elif kind == "else":
            lines.append(rf"{space}\textbf{{else}}")
        elif kind == "leaf":
            lines += [space + line for line in _terminal(payload, program)]
    body = (" \\\\\n").join(f"  {line}" for line in lines)
    return f"\\begin{{array}}{{l}}\n{body}\n\\end{{array}}\n"


def _condition(node: If, program: Program) -> str:
    return f"{_form(node.condition.weights, node.condition.bias, program)} > 0"


def _terminal(leaf: Terminal, program: Program) -> list[str]:
    names = [_name(name) for name in program.signature.actions.names]
    if isinstance(leaf, Act):
        return [names[leaf.action]]
    if isinstance(leaf, Blend):
        return [structure.linear(leaf.weights, 0.0, names, number, r"\,")]
    rows = zip(names, leaf.weights, leaf.bias, strict=True)
    return [f"{name} = {_form(row, bias, program)}" for name, row, bias in rows]


def _form(weights: Sequence[float], bias: float, program: Program) -> str:
    names = [_name(name) for name in program.signature.feature_names]
    return structure.linear(weights, bias, names, number, r"\,")


def _name(name: str) -> str:
    """A name as words, with a trailing number as an index."""
    words = re.fullmatch(r"(.*?[A-Za-z])_?(\d+)", name)
    stem, index = (words[1], f"_{{{words[2]}}}") if words else (name, "")
    return rf"\text{{{escape(stem.replace('_', ' '))}}}{index}"

"""A drawing of the tree, readable on light and dark pages; numbers are rounded, the exact text is inside."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from diprl.export import structure
from diprl.export.parity import unchecked
from diprl.program import Act, Blend, Condition, Program, Terminal
from diprl.program.ast import flatten, fold, terminals
from diprl.program.text_format import Notation, format_condition, format_terminal

_CHARACTER, _LINE, _MARGIN, _GAP, _LEVEL = 7.3, 17, 10, 22, 54
_COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#dd8452", "#7f7f7f")
FEW_DIGITS = Notation(lambda value: format(value, ".4g"), "·")


@dataclass(frozen=True)
class _Box:
    """A node with its text and the room that its subtree takes."""

    leaf: Terminal | None
    """None for a condition."""
    lines: Sequence[str]
    width: float
    height: float
    room: float
    """Width of the whole subtree."""
    children: "Sequence[_Box]"


def to_svg(program: Program) -> str:
    root = _measure(program)
    shapes, height = _draw(root, leaf_colours(program))
    return structure.fill(
        "drawing.svg",
        width=f"{root.room + 2 * _MARGIN:.0f}",
        height=f"{height:.0f}",
        title=escape(structure.printable(f"Program for {program.task}" if program.task else "Program")),
        text=escape(structure.printable(str(program), keep="\n")),
        shapes="\n".join(shapes),
    )


check = unchecked("drawing", "it is for looking at; its description holds the exact text")
render = structure.one_file("svg", lambda program, _: to_svg(program))


def _measure(program: Program) -> _Box:
    """Boxes from the leaves up, so that the depth of a program does not matter."""
    signature = program.signature

    def leaf_box(leaf: Terminal) -> _Box:
        lines = format_terminal(leaf, signature, FEW_DIGITS)
        return _box(leaf, _split(lines[0]) if isinstance(leaf, Blend) else lines)

    def condition_box(condition: Condition, *branches: _Box) -> _Box:
        return _box(None, _split(format_condition(condition, signature, FEW_DIGITS)), branches)

    return fold(flatten(program.root), leaf_box, condition_box)


def _box(leaf: Terminal | None, lines: Sequence[str], children: Sequence[_Box] = ()) -> _Box:
    width, height = max(map(len, lines)) * _CHARACTER + 2 * _MARGIN, len(lines) * _LINE + _MARGIN
    below = children[0].room + _GAP + children[1].room if children else 0.0
    return _Box(leaf, lines, width, height, max(width, below), children)


def _split(form: str) -> list[str]:
    """One line per term, so that boxes stay narrow."""
    return form.replace(" + ", "\n+ ").replace(" - ", "\n- ").split("\n")


def _draw(root: _Box, colours: dict[Terminal, str]) -> tuple[list[str], float]:
    """Every subtree centred in its room; returns the shapes, edges first, and the height of the drawing."""
    edges: list[str] = []
    nodes: list[str] = []
    bottom = 0.0
    stack = [(root, float(_MARGIN), float(_MARGIN))]
    while stack:
        box, left, top = stack.pop()
        middle = left + box.room / 2
        nodes += _node(box, middle, top, colours)
        bottom = max(bottom, top + box.height)
        below = top + box.height + _LEVEL
        spare = box.room - sum(child.room for child in box.children) - _GAP
        for child, answer in zip(box.children, ("yes", "no"), strict=False):
            start = left + spare / 2 if answer == "yes" else left + box.room - spare / 2 - child.room
            edges += _edge(middle, top + box.height, start + child.room / 2, below, answer)
            stack.append((child, start, below))
    return edges + nodes, bottom + _MARGIN


def _node(box: _Box, middle: float, top: float, colours: dict[Terminal, str]) -> list[str]:
    corner = f'x="{middle - box.width / 2:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'
    if box.leaf is None:
        shape = f'<rect class="condition" {corner} rx="4"/>'
    else:
        colour = colours[box.leaf]
        shape = f'<rect class="leaf" {corner} rx="12" fill="{colour}" stroke="{colour}"/>'
    texts = [
        f'<text x="{middle:.1f}" y="{top + _MARGIN / 2 + _LINE * (number + 0.72):.1f}">{escape(line)}</text>'
        for number, line in enumerate(box.lines)
    ]
    return [shape, *texts]


def _edge(x: float, y: float, to_x: float, to_y: float, answer: str) -> list[str]:
    half = (y + to_y) / 2
    path = f"M{x:.1f} {y:.1f} C{x:.1f} {half:.1f} {to_x:.1f} {half:.1f} {to_x:.1f} {to_y:.1f}"
    side = -14 if answer == "yes" else 12
    text = f'<text class="side" x="{to_x + side:.1f}" y="{to_y - 8:.1f}">{answer}</text>'
    return [f'<path class="edge" d="{path}"/>', text]


def leaf_colours(program: Program) -> dict[Terminal, str]:
    """One colour per different terminal; discrete actions keep theirs wherever they appear."""
    found: dict[Terminal, str] = {}
    for leaf in terminals(program.root):
        number = leaf.action if isinstance(leaf, Act) else len(found)
        found.setdefault(leaf, _COLOURS[number % len(_COLOURS)])
    return found

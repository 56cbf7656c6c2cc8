"""Draws docs/images/handover.svg: python docs/images/handover.py."""

from html import escape
from pathlib import Path

STYLE = """text { font-family: system-ui, sans-serif; font-size: 13px; fill: #1b1f24; text-anchor: middle; }
.name { font-weight: 600; } .box { fill: #ffffff; stroke: #8c959f; } .main { fill: #e8f0fa; stroke: #4477aa; }
.edge { stroke: #8c959f; fill: none; marker-end: url(#tip); } .tip { fill: #8c959f; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .box { fill: #161b22; stroke: #6e7681; }
.main { fill: #16263a; stroke: #66aadd; } .edge { stroke: #6e7681; } .tip { fill: #6e7681; } }"""
BOXES = {
    "run": (20, 90, "box", ["a run", "program, score"]),
    "spec": (20, 210, "box", ["requirements", "properties in YAML"]),
    "handover": (280, 130, "main", ["diprl handover", "proves, writes, tests,", "describes, hashes"]),
    "plc": (560, 20, "box", ["PLC", "Structured Text"]),
    "mcu": (560, 110, "box", ["controller", "C: double, float, fixed"]),
    "fmu": (560, 200, "box", ["co-simulation", "FMU (FMI 2.0)"]),
    "sign": (560, 290, "box", ["who signs", "--check, no JAX"]),
}
EDGES = [("run", "handover"), ("spec", "handover"), *(("handover", end) for end in ("plc", "mcu", "fmu", "sign"))]
WIDTH, LINE = 190, 19


def box(x: int, y: int, kind: str, lines: list[str]) -> str:
    height = LINE * len(lines) + 20
    rows = ""
    for index, line in enumerate(lines):
        place = f'class="{"line" if index else "name"}" x="{x + WIDTH / 2}" y="{y + 24 + LINE * index}"'
        rows += f"<text {place}>{escape(line)}</text>"
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{WIDTH}" height="{height}" rx="8"/>' + rows


def middle(name: str) -> float:
    _, y, _, lines = BOXES[name]
    return y + (LINE * len(lines) + 20) / 2


def edge(start: str, end: str) -> str:
    left, right, bend = BOXES[start][0] + WIDTH, BOXES[end][0] - 6, 40
    path = f"M{left} {middle(start)} C{left + bend} {middle(start)} {right - bend} {middle(end)} {right} {middle(end)}"
    return f'<path class="edge" d="{path}"/>'


def picture() -> str:
    tip = '<marker id="tip" markerWidth="8" markerHeight="8" refX="4" refY="3" orient="auto">'
    tip += '<path class="tip" d="M0 0 6 3 0 6"/></marker>'
    shapes = [edge(*pair) for pair in EDGES] + [box(*each) for each in BOXES.values()]
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 770 370" width="770" role="img">'
    title = "<title>A run and requirements go into diprl handover; code, proofs, tests and hashes come out</title>"
    return "\n".join([head, title, f"<style>{STYLE}</style><defs>{tip}</defs>", *shapes, "</svg>"]) + "\n"


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(picture(), encoding="utf-8")

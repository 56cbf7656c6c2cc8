"""The model card: what the program is for, how far it can be trusted, what was asked of it and found, what was not."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from diprl.errors import DiprlError
from diprl.export import structure
from diprl.export.fixed import FixedPoint
from diprl.export.guard import MEANINGS, Guard, Ranges
from diprl.program import Discrete, Program
from diprl.program.ast import Item, flatten, fold, number_rows
from diprl.program.signature import outputs
from diprl.program.text_format import described
from diprl.system.files import read_text
from diprl.verify import Report, Spec, load_spec, verify
from diprl.verify.properties import LoopProperty
from diprl.verify.spec import read_tree

Row = Mapping[str, str]
Section = str | Sequence[Row]
"""A text, or the rows of a table."""


@dataclass(frozen=True)
class Facts:
    """What a run tells about its program; empty where the program came without one."""

    run: Mapping[str, str] = field(default_factory=dict)
    seen: Ranges = ()
    """The range of each feature in the episodes below."""
    seen_in: str = "No episodes were played, so the flag UNSEEN is never raised."


def markdown(title: str, sections: Mapping[str, Section]) -> str:
    """A page with a heading for each section."""
    lines = [f"# {structure.printable(title)}"]
    for heading, content in sections.items():
        lines += ["", f"## {heading}", "", content if isinstance(content, str) else table(content)]
    return "\n".join(lines) + "\n"


def table(rows: Sequence[Row]) -> str:
    """Rows with the same keys in Markdown."""
    cells = [list(rows[0]), ["---"] * len(rows[0]), *(row.values() for row in rows)]
    lines = [" | ".join(structure.printable(cell).replace("|", "\\|") for cell in row) for row in cells]
    return "\n".join(f"| {line} |" for line in lines)


def pairs(entries: Mapping[str, str]) -> list[Row]:
    """A table of two columns."""
    return [{"what": key, "value": value} for key, value in entries.items()]


def interface(program: Program, guard: Guard, fixed: FixedPoint | None) -> list[Row]:
    """Every feature with its unit, its ranges, and how the fixed-point variant takes it."""
    rows, names = [], ("bounds", "tried", "proved")
    for index, feature in enumerate(program.signature.features):
        ranges = [interval(*one[index]) if one else "" for one in guard.watched(program).values()]
        row = {"feature": feature.name, "unit": feature.unit, **dict(zip(names, ranges, strict=True))}
        if fixed:
            within = interval(*guard.watched(program, fixed=True)["OUT_OF_BOUNDS"][index])
            row["in fixed point"] = f"times 2^{fixed.bits[index]} within {within}"
        rows.append({**row, "meaning": feature.meaning})
    return rows


def interval(low: float, high: float) -> str:
    return "any" if (low, high) == (-inf, inf) else f"[{low:.6g}, {high:.6g}]"


def actions(program: Program, guard: Guard) -> list[Row]:
    """What the program can do, what a controller does instead where it must not act, and what its flags mean."""
    known, chosen = program.signature.actions, guard.action(program)
    if isinstance(known, Discrete):
        listed, fallback = ", ".join(f"{index} {name}" for index, name in enumerate(known.names)), known.names[chosen]
    else:
        listed = "; ".join(described(one) for one in outputs(known))
        fallback = ", ".join(f"{value:g}" for value in chosen)
    by = "" if guard.fallback is not None else " (nobody chose it: name one with --fallback)"
    return pairs({"actions": listed, "fallback action": fallback + by, **MEANINGS})


def longest_way(program: Program) -> dict[str, str]:
    """The most operations that one decision takes, and on which way: T where a condition holds on it, F where not."""

    def longer(condition: Item, then: tuple[int, str], orelse: tuple[int, str]) -> tuple[int, str]:
        after, letter = (then, "T") if then[0] >= orelse[0] else (orelse, "F")
        return operations(condition) + 1 + after[0], letter + after[1]

    count, way = fold(flatten(program.root), lambda leaf: (operations(leaf), ""), longer)
    return {"multiplications, additions and comparisons": str(count), "conditions on the way": way}


def operations(item: Item) -> int:
    """Multiplications and additions of its linear forms."""
    forms = [[number for number in row if number] for row in number_rows(item)]
    products = sum(abs(weight) != 1.0 for row in number_rows(item) for weight in row[:-1] if weight)
    return products + sum(max(0, len(form) - 1) for form in forms)


@dataclass(frozen=True)
class Evidence:
    """Everything that was asked of a program in one specification."""

    spec: Spec
    report: Report
    rows: list[Row]
    """Each requirement with each of its properties and the verdict."""

    def box(self) -> Ranges:
        """Where everything that was proved about single observations, not closed loops, holds; empty if nothing was."""
        pairs = zip(self.spec.properties, self.report.findings, strict=True)
        decisions = [pair for pair in pairs if not isinstance(pair[0], LoopProperty)]
        proved = [asked.box for asked, one in decisions if one.answer.verdict == "proved"]
        sides = zip(*(zip(box.low, box.high, strict=True) for box in proved), strict=True)
        return tuple((max(low for low, _ in side), min(high for _, high in side)) for side in sides)


def gather(program: Program, spec: Path, certificates: Path) -> Evidence:
    """Examine every property; proofs that can be checked again are kept in the folder."""
    asked = load_spec(spec, program)
    report = verify(program, asked, certificates=certificates)
    return Evidence(asked, report, _trace(read_tree(read_text(spec)).value, report))


def _trace(content: Any, report: Report) -> list[Row]:
    """The requirements with their properties; a property without one stands for itself."""
    named = content["requirements"][1].value if "requirements" in content else {}
    if not isinstance(named, dict) or not all(isinstance(text.value, str) for _, text in named.values()):
        raise DiprlError("'requirements:' must give a sentence for each name, such as R1: the force stays below 10 N")
    texts, rows = {key: text.value for key, (_, text) in named.items()}, list[Row]()
    for number, (item, finding) in enumerate(zip(content["properties"][1].value, report.findings, strict=True), 1):
        key = item.value["requirement"][1].value if "requirement" in item.value else f"P{number}"
        if key not in texts and "requirement" in item.value:
            raise DiprlError(f"'{finding.name}' is for the requirement {key}, which 'requirements:' does not list")
        found = {"property": finding.name, "kind": finding.kind, "verdict": finding.answer.verdict}
        rows.append({"requirement": key, "": texts.get(key, finding.name), **found})
    left = texts.keys() - {row["requirement"] for row in rows}
    nothing = {"property": "none asks for it", "kind": "", "verdict": "not verified"}
    return rows + [{"requirement": key, "": text, **nothing} for key, text in texts.items() if key in left]


def named_files(spec: Path) -> dict[str, Path]:
    """The files beside a specification that it names, such as a plant or another program."""
    words = set(re.findall(r"[\w.-]+", read_text(spec)))
    return {path.name: path for path in sorted(spec.parent.glob("*")) if path.is_file() and path.name in words}

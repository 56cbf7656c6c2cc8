"""The model card: what the program is for, where it comes from, how far it can be trusted, what nobody checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from diprl.export import structure
from diprl.export.fixed import FixedPoint
from diprl.export.guard import MEANINGS, Guard, Ranges
from diprl.program import Discrete, Program
from diprl.program.ast import Item, flatten, fold, number_rows
from diprl.program.signature import outputs

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
        listed = "; ".join(f"{one.name}{structure.facts(one)}" for one in outputs(known))
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

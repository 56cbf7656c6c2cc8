"""The model card: what the program is for, where it comes from, how far it can be trusted, what nobody checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from diprl.export import structure
from diprl.export.fixed import FixedPoint
from diprl.export.guard import MEANINGS, Guard, Ranges
from diprl.program import Discrete, Program
from diprl.program.signature import outputs

Section = str | Sequence[Mapping[str, str]]
"""A text, or the rows of a table."""


@dataclass(frozen=True)
class Facts:
    """What a run tells about its program; empty where the program came without one."""

    training: Mapping[str, str] = field(default_factory=dict)
    score: str = ""
    seen: Ranges = ()
    """The range of each feature in the episodes below."""
    seen_in: str = ""
    """Which episodes these were."""


def markdown(title: str, sections: Mapping[str, Section]) -> str:
    """A page with a heading for each section."""
    lines = [f"# {structure.printable(title)}"]
    for heading, content in sections.items():
        lines += ["", f"## {heading}", ""]
        lines += [content] if isinstance(content, str) else table(content)
    return "\n".join(lines) + "\n"


def table(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Rows with the same keys, as lines of Markdown."""
    cells = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)] if rows else [["nothing"]]
    return [f"| {' | '.join(structure.printable(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in cells]


def pairs(entries: Mapping[str, str]) -> list[Mapping[str, str]]:
    """A table of two columns."""
    return [{"what": key, "value": value} for key, value in entries.items()]


def interface(program: Program, guard: Guard) -> Section:
    """Every feature with its unit and ranges."""
    rows, ranges = [], guard.watched(program)
    for index, feature in enumerate(program.signature.features):
        shown = {flag: interval(*one[index]) if one else "" for flag, one in ranges.items()}
        known = {"bounds": shown["OUT_OF_BOUNDS"], "tried": shown["UNSEEN"], "proved": shown["UNPROVED"]}
        rows.append({"feature": feature.name, "unit": feature.unit, **known, "meaning": feature.meaning})
    return rows


def actions(program: Program, guard: Guard) -> Mapping[str, str]:
    """What the program can do, and what a controller does instead where it must not act."""
    known, chosen = program.signature.actions, guard.action(program)
    if isinstance(known, Discrete):
        listed, fallback = ", ".join(f"{index} {name}" for index, name in enumerate(known.names)), known.names[chosen]
    else:
        listed = "; ".join(f"{one.name}{structure.facts(one)}" for one in outputs(known))
        fallback = ", ".join(f"{value:g}" for value in chosen)
    by = "" if guard.fallback is not None else " (nobody chose it: name one with --fallback)"
    return {"actions": listed, "fallback action": fallback + by, **{flag: text for flag, text in MEANINGS.items()}}


def fixed_section(program: Program, guard: Guard, fixed: FixedPoint | None, why_not: str) -> Section:
    """How inputs are given, where they must lie, and the margins."""
    if fixed is None:
        return f"There is no fixed-point variant: {why_not}."
    limits = guard.watched(program, fixed=True)["OUT_OF_BOUNDS"]
    given = zip(program.signature.feature_names, fixed.bits, limits, strict=True)
    rows = [
        {"input": name, "given": f"times 2^{bits}, rounded", "must lie in": interval(*ends)}
        for name, bits, ends in given
    ]
    margins = ", ".join(f"{margin:.2g}" for margin in fixed.margins[:100]) or "none"
    return "\n".join([*table(rows), "", structure.fill("fixed.md", "handover", margins=margins)])


def interval(low: float, high: float) -> str:
    return "any" if (low, high) == (-inf, inf) else f"[{low:.6g}, {high:.6g}]"

"""The model card: what the program is for, where it comes from, how far it can be trusted, and what nobody checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite

from diprl.export import structure
from diprl.export.fixed import FixedPoint
from diprl.export.guard import Guard, Ranges
from diprl.export.parity import ExportReport
from diprl.handover.effort import Effort
from diprl.handover.evidence import Evidence
from diprl.handover.vectors import Vectors
from diprl.program import Discrete, Program
from diprl.program.signature import outputs

NOT_VERIFIED = (
    "the plant: what sensors, actuators and the process itself do, beyond what a requirement above names",
    "time: operations are counted, but not the cycles that a processor takes for them",
    "compilers and processors other than those that ran the vectors",
    "what happens between two calls of the controller, and what the caller does with its status",
)


@dataclass(frozen=True)
class Facts:
    """What a run tells about its program; empty where the program came without one."""

    training: Mapping[str, str] = field(default_factory=dict)
    score: str = ""
    seen: Ranges = ()
    """The range of each feature in the episodes below."""
    seen_in: str = ""
    """Which episodes these were."""


@dataclass(frozen=True)
class Contents:
    """Everything that a hand-over holds, for those who write about it."""

    program: Program
    guard: Guard
    facts: Facts
    evidence: Evidence | None
    exports: Sequence[ExportReport]
    vectors: Vectors
    ran: Mapping[str, str]
    """What the vectors said on each target, or why they did not run there."""
    effort: Effort
    fixed: FixedPoint | None
    why_no_fixed: str
    chosen: bool
    """Whether somebody chose the fallback action."""


def card(contents: Contents) -> str:
    """The card as Markdown."""
    program, facts = contents.program, contents.facts
    return structure.fill(
        "card.md",
        "handover",
        title=structure.printable(program.task or "a program"),
        signature=structure.signature(program),
        program=structure.printable(str(program), keep="\n"),
        features=_features(contents),
        actions=_actions(program),
        fallback=_fallback(contents),
        training=_rows(facts.training) or "Nothing is known: the program came without a run.",
        score=facts.score or "None was measured.",
        seen_in=facts.seen_in or "no episodes were played, so the flag UNSEEN is never raised",
        requirements=_requirements(contents.evidence),
        validity=_validity(contents),
        missing="\n".join(f"- {line}" for line in _missing(contents)),
        checks="\n".join(f"| {one.target} | {check} |" for one in contents.exports for check in one.checks),
        vectors=len(contents.vectors.features),
        ran=_rows(contents.ran),
        effort=contents.effort,
        path=", ".join(f"{abs(n)} {'holds' if n > 0 else 'fails'}" for n in contents.effort.path[:40])
        or "no condition",
        stack=_rows({name: f"{size} bytes" for name, size in contents.effort.stack.items()}) or "No compiler told it.",
        fixed=_fixed(contents),
    )


def _rows(entries: Mapping[str, str]) -> str:
    rows = "\n".join(f"| {key} | {_cell(value)} |" for key, value in entries.items())
    return f"| | |\n| --- | --- |\n{rows}" if rows else ""


def _cell(text: str) -> str:
    return structure.printable(text).replace("|", "\\|")


def _features(contents: Contents) -> str:
    ranges = [dict(contents.guard.watched(contents.program))[key] for key in ("OUT_OF_BOUNDS", "UNSEEN", "UNPROVED")]
    rows = []
    for index, feature in enumerate(contents.program.signature.features):
        shown = [_interval(*one[index]) if one else "" for one in ranges]
        rows.append(f"| {' | '.join(map(_cell, [feature.name, feature.unit, *shown, feature.meaning]))} |")
    return "\n".join(rows)


def _interval(low: float, high: float) -> str:
    return "any" if (low, high) == (-inf, inf) else f"[{low:.6g}, {high:.6g}]"


def _actions(program: Program) -> str:
    if isinstance(program.signature.actions, Discrete):
        return ", ".join(f"{index} {name}" for index, name in enumerate(program.signature.actions.names))
    return "; ".join(one.name + structure.printable(structure.facts(one)) for one in outputs(program.signature.actions))


def _fallback(contents: Contents) -> str:
    chosen, actions = contents.guard.action(contents.program), contents.program.signature.actions
    text = actions.names[chosen] if isinstance(actions, Discrete) else ", ".join(f"{value:g}" for value in chosen)
    return text if contents.chosen else f"{text} (nobody chose it: it is the first action, or zero; see --fallback)"


def _requirements(evidence: Evidence | None) -> str:
    if evidence is None:
        return "None were given (see --spec)."
    rows = [f"| {one.key} | {_cell(one.text)} | {one.verdict} |" for one in evidence.requirements]
    table = "\n".join(["| | requirement | verdict |", "| --- | --- | --- |", *rows])
    kept = f"{len(evidence.certificates)} proofs are kept as certificates that a checker accepts again."
    return (
        f"{table}\n\n{kept if evidence.certificates else 'No verdict has a certificate: repeating it proves it again.'}"
    )


def _validity(contents: Contents) -> str:
    lines = ["an observation that is finite and within its bounds; with any other the fallback acts"]
    if contents.guard.seen:
        lines.append("observations within the tried ranges; outside of them the flag UNSEEN is raised")
    if contents.guard.proved:
        lines.append("for what was proved, observations within the proved ranges; outside of them UNPROVED is raised")
    return "\n".join(f"- {line}" for line in lines)


def _missing(contents: Contents) -> list[str]:
    found, evidence = [], contents.evidence
    if evidence is None:
        found.append("any requirement: no specification was given")
    else:
        found += [
            f"{one.key}: {_cell(one.text)} ({one.verdict})" for one in evidence.requirements if one.verdict != "proved"
        ]
    if contents.vectors.unreached:
        listed = ", ".join(map(str, contents.vectors.unreached[:20]))
        found.append(f"conditions {listed}: no observation within the ranges was found that reaches them")
    found += [f"{one.target}: {check}" for one in contents.exports for check in one.checks if not check.observations]
    return [*found, *NOT_VERIFIED]


def _fixed(contents: Contents) -> str:
    if contents.fixed is None:
        return f"There is no fixed-point variant: {contents.why_no_fixed}."
    limits = contents.guard.watched(contents.program, fixed=True)[0][1]
    names, lines = contents.program.signature.feature_names, []
    for name, bits, ends in zip(names, contents.fixed.feature_bits, limits, strict=True):
        if all(map(isfinite, ends)):
            lines.append(f"| {name} | times 2^{bits} | {_interval(*ends)} |")
    table = "\n".join(["| input | is given | and must lie in |", "| --- | --- | --- |", *lines])
    margins = ", ".join(f"{margin:.2g}" for margin in contents.fixed.margins[:40]) or "none"
    errors = ", ".join(f"{error:.2g}" for error in contents.fixed.output_errors)
    outputs_text = f" On the same branch, outputs differ by at most {errors}." if errors else ""
    proof = (
        "Where the value of every condition on the way is further from zero than its margin, the fixed-point program"
    )
    return (
        f"{table}\n\n{proof} takes the same branch as the interpreter. Margins by condition: {margins}.{outputs_text}"
    )

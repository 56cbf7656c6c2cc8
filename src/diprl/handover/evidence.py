"""What was asked of a program and what was found: requirements, the properties that stand for them, verdicts."""

import re
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from diprl.errors import DiprlError
from diprl.export.guard import Ranges
from diprl.program import Program
from diprl.system.files import read_text, write_json
from diprl.verify import Finding, Report, Spec, load_spec, verify
from diprl.verify.spec.tree import Tree, read_tree

LOOPS = ("safe", "always", "reaches", "stays", "chattering")
"""Properties of the closed loop: what they prove is not about a box of observations."""


@dataclass(frozen=True)
class Requirement:
    """One demand, and what was found about the properties that stand for it."""

    key: str
    text: str
    findings: tuple[Finding, ...] = ()

    @property
    def verdict(self) -> str:
        """Proved where every property is; otherwise the worst verdict, or that nothing was asked."""
        verdicts = [finding.answer.verdict for finding in self.findings]
        worst = [verdict for verdict in ("refuted", "unknown", "proved") if verdict in verdicts]
        return worst[0] if worst else "not verified"


@dataclass(frozen=True)
class Evidence:
    """Everything that was asked of a program in one specification."""

    spec: Spec
    report: Report
    requirements: tuple[Requirement, ...]
    certificates: tuple[str, ...]
    """Files with proofs that a checker accepts again."""

    @property
    def proved(self) -> bool:
        return all(one.verdict == "proved" for one in self.requirements)

    def box(self) -> Ranges:
        """Where everything that was proved about single observations holds; empty where nothing was."""
        pairs = zip(self.spec.properties, self.report.findings, strict=True)
        boxes = [asked.box for asked, found in pairs if found.answer.verdict == "proved" and found.kind not in LOOPS]
        if not boxes:
            return ()
        low = [max(ends) for ends in zip(*(box.low for box in boxes), strict=True)]
        high = [min(ends) for ends in zip(*(box.high for box in boxes), strict=True)]
        return tuple(zip(low, high, strict=True))

    def verdicts(self) -> list[dict[str, str]]:
        """What a receiver compares: names, kinds and verdicts."""
        return [{"name": f.name, "kind": f.kind, "verdict": f.answer.verdict} for f in self.report.findings]


def gather(program: Program, spec: Path, certificates: Path) -> Evidence:
    """Examine every property; proofs that can be checked again are kept in the folder."""
    asked = load_spec(spec, program)
    report = examine(program, asked, certificates)
    kept = tuple(sorted(path.name for path in certificates.glob("*"))) if certificates.is_dir() else ()
    return Evidence(asked, report, _requirements(read_tree(read_text(spec)), report), kept)


def examine(program: Program, spec: Spec, certificates: Path) -> Report:
    """The verdicts; certificates are written to the folder, and used instead of a search where they are there."""
    return verify(program, spec)


def problem_of(certificate: Path) -> str:
    """Why a certificate proves nothing; empty where it proves its claim."""
    return "this version of diprl has no checker of certificates"


def _requirements(tree: Tree, report: Report) -> tuple[Requirement, ...]:
    """The requirements of a specification with their findings; a property without one stands for itself."""
    content: Any = tree.value
    texts = {key: str(text.value) for key, (_, text) in _entries(content, "requirements").items()}
    found: dict[str, list[Finding]] = {key: [] for key in texts}
    for number, (item, finding) in enumerate(zip(content["properties"][1].value, report.findings, strict=True), 1):
        named = item.value.get("requirement")
        key = str(named[1].value) if named else f"P{number}"
        if named and key not in texts:
            raise DiprlError(f"the property '{finding.name}' is for the requirement {key}, which 'requirements:' lacks")
        texts.setdefault(key, finding.name)
        found.setdefault(key, []).append(finding)
    return tuple(Requirement(key, text, tuple(found[key])) for key, text in texts.items())


def _entries(content: Any, key: str) -> dict[str, Any]:
    entries = content[key][1].value if key in content else {}
    if not isinstance(entries, dict) or not all(isinstance(text.value, str) for _, text in entries.values()):
        raise DiprlError(f"'{key}:' must give a sentence for each name, such as R1: the force stays below 10 N")
    return entries


def named_files(spec: Path) -> dict[str, Path]:
    """The files beside a specification that it names, such as a plant or another program."""
    found, stack = {}, [read_tree(read_text(spec))]
    while stack:
        value: Any = stack.pop().value
        if isinstance(value, dict):
            stack += [entry for _, entry in value.values()]
        elif isinstance(value, tuple):
            stack += value
        elif len(value) < 200 and Path(value).name == value and (spec.parent / value).is_file():
            found[value] = spec.parent / value
    return found


def write_evidence(folder: Path, evidence: Evidence) -> None:
    """The table of requirements for a person, and everything for a machine."""
    lines = ["# Requirements", "", "| requirement | | property | kind | verdict |", "| --- | --- | --- | --- | --- |"]
    for one in evidence.requirements:
        for finding in one.findings or (None,):
            rest = (
                [finding.name, finding.kind, finding.answer.verdict]
                if finding
                else ["none asks for it", "", one.verdict]
            )
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in (one.key, one.text, *rest)) + " |")
    found = re.sub(r", [\d.]+ s\]", "]", str(evidence.report)).rsplit("\n", 1)[0]  # times differ when it is repeated
    lines += ["", "```text", found, "```"]
    (folder / "requirements.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    told = [{"key": one.key, "text": one.text, "verdict": one.verdict} for one in evidence.requirements]
    report = evidence.report.to_dict()
    for finding in report["findings"]:
        finding.pop("seconds")
    write_json(folder / "evidence.json", {"requirements": told, "report": _strict(report)})


def _strict(value: Any) -> Any:
    """The same without numbers that JSON lacks."""
    if isinstance(value, dict):
        return {key: _strict(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(entry) for entry in value]
    return str(value) if isinstance(value, float) and abs(value) == inf else value

"""What was asked of a program and what was found: requirements, the properties that stand for them, verdicts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diprl.errors import DiprlError
from diprl.export.guard import Ranges
from diprl.program import Program
from diprl.system.files import read_json, read_text
from diprl.verify import Report, Spec, checker, load_spec, verify
from diprl.verify.closed_loop.decide import LARGEST as LARGEST_CERTIFICATE
from diprl.verify.spec import read_tree

LOOPS = ("safe", "always", "reaches", "stays", "chattering")
"""Properties of the closed loop: what they prove is not about a box of observations."""
Row = Mapping[str, str]


@dataclass(frozen=True)
class Evidence:
    """Everything that was asked of a program in one specification."""

    spec: Spec
    report: Report
    rows: list[Row]
    """Each requirement with each of its properties and the verdict."""

    def box(self) -> Ranges:
        """Where everything that was proved about single observations holds; empty where nothing was."""
        pairs = zip(self.spec.properties, self.report.findings, strict=True)
        proved = [asked.box for asked, one in pairs if one.answer.verdict == "proved" and one.kind not in LOOPS]
        sides = zip(*(zip(box.low, box.high, strict=True) for box in proved), strict=True)
        return tuple((max(low for low, _ in side), min(high for _, high in side)) for side in sides)


def gather(program: Program, spec: Path, certificates: Path) -> Evidence:
    """Examine every property; proofs that can be checked again are kept in the folder."""
    asked = load_spec(spec, program)
    report = examine(program, asked, certificates)
    return Evidence(asked, report, _trace(read_tree(read_text(spec)).value, report))


def examine(program: Program, spec: Spec, certificates: Path) -> Report:
    """The verdicts; certificates are written to the folder, and used instead of a search where they are there."""
    return verify(program, spec, certificates=certificates)


def problem_of(certificate: Path) -> str:
    """Why a certificate proves nothing; empty where it proves its claim."""
    return checker.problem_of(read_json(certificate, LARGEST_CERTIFICATE))


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

"""Checks a hand-over on another machine: hashes, signatures, code, vectors, verdicts. It needs no JAX."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from diprl.errors import DiprlError
from diprl.export import c, fmu, js, st, structure
from diprl.export.guard import Guard
from diprl.handover.evidence import examine, problem_of
from diprl.handover.folder import FORMAT, MANIFEST, read_ranges, run_vectors
from diprl.handover.vectors import Vectors, expectations
from diprl.program import Program
from diprl.system.files import read_bytes, read_json, read_text

LARGEST = 100_000_000
"""Bytes of a file that are read at all."""


@dataclass(frozen=True)
class Step:
    """One thing that was looked at."""

    name: str
    passed: bool | None
    """None where it could not be done here."""
    text: str

    def __str__(self) -> str:
        word = {True: "passed", False: "FAILED", None: "not done"}[self.passed]
        return f"{word:8}  {self.name}: {self.text}"


def check_handover(folder: Path) -> list[Step]:
    """Everything that can be checked here, in order; files that were changed end the check."""
    manifest = _read_manifest(folder)
    hashes = _check_hashes(folder, manifest)
    if not hashes.passed:
        return [hashes]
    program = Program.load(folder / "program.json")
    given = manifest["guard"]
    fallback = tuple(given["fallback"]) if isinstance(given["fallback"], list) else given["fallback"]
    guard = Guard(fallback, *(read_ranges(given[key]) for key in ("seen", "proved", "limits")))
    steps = [hashes, _check_signature(program, manifest), _check_code(folder, program, guard, manifest)]
    steps.append(_check_vectors(folder, program, guard))
    for place, cortex_m in (("this machine", False), ("a Cortex-M3 in QEMU", True)):
        text = run_vectors(folder, cortex_m)
        steps.append(Step(f"vectors on {place}", None if text.startswith("not run") else "FAIL" not in text, text))
    return [*steps, *_check_certificates(folder), _check_verdicts(folder, program, manifest)]


def _read_manifest(folder: Path) -> dict[str, Any]:
    if not (folder / MANIFEST).is_file():
        raise DiprlError(f"{folder} is no hand-over: it has no {MANIFEST}")
    manifest = read_json(folder / MANIFEST)
    files, guard = manifest.get("files"), manifest.get("guard")
    if manifest.get("format") != FORMAT or not isinstance(files, dict) or not isinstance(guard, dict):
        raise DiprlError(f"{folder / MANIFEST}: not the manifest of a hand-over that this version knows")
    return manifest


def _check_hashes(folder: Path, manifest: dict[str, Any]) -> Step:
    """Every file is there as it was, and no other."""
    wanted = manifest["files"]
    there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if not path.is_dir()}
    there.pop(MANIFEST, None)
    problems = [f"{name} is missing" for name in sorted(wanted.keys() - there.keys())]
    problems += [f"{name} does not belong to it" for name in sorted(there.keys() - wanted.keys())]
    for name in sorted(wanted.keys() & there.keys()):
        if sha256(read_bytes(there[name], LARGEST)).hexdigest() != wanted[name]:
            problems.append(f"{name} was changed")
    own = sha256(read_bytes(folder / MANIFEST, LARGEST)).hexdigest()
    return Step("hashes", not problems, "; ".join(problems[:5]) or f"{len(wanted)} files, manifest {own}")


def _check_signature(program: Program, manifest: dict[str, Any]) -> Step:
    found = structure.signature(program)
    return Step("signature", found == manifest["signature"], found)


def _check_code(folder: Path, program: Program, guard: Guard, manifest: dict[str, Any]) -> Step:
    """The code is what this program gives, byte by byte; of the unit for co-simulation all but its binary."""
    here = version("diprl")
    if manifest["diprl"] != here:
        return Step("code", None, f"written by diprl {manifest['diprl']}, and {here} may write it otherwise")
    wanted: dict[str, bytes] = {}
    for target, module in (("c", c), ("st", st), ("js", js)):
        rendered = module.render(program, (), guard)
        wanted |= {
            f"{target}/{name}": text.encode() if isinstance(text, str) else text for name, text in rendered.items()
        }
    different = [name for name, text in wanted.items() if read_bytes(folder / name, LARGEST) != text]
    unit = f"fmu/{structure.prefix(program)}.fmu"
    with ZipFile(folder / unit) as packed:
        for name, text in fmu.parts(program, guard).items():
            different += [] if packed.read(name) == text.encode() else [f"{unit}: {name}"]
    return Step("code", not different, f"differs: {', '.join(different)}" if different else "made again, byte by byte")


def _check_vectors(folder: Path, program: Program, guard: Guard) -> Step:
    """The interpreter does with every vector what the table says."""
    rows = list(csv.reader(read_text(folder / "vectors" / "vectors.csv").splitlines()))[1:]
    width = len(program.signature.features)
    features = np.array([[float(cell) for cell in row[1 : 1 + width]] for row in rows])
    (expected, *_) = expectations(program, guard, Vectors(features, (), ()), None)
    said = np.array([[float(cell) for cell in row[1 + width :]] for row in rows])
    found = np.column_stack([expected.actions, expected.status])
    wrong = int((said != found).any(axis=1).sum())
    return Step("vectors in the interpreter", wrong == 0, f"{len(rows)} vectors, {wrong} wrong")


def _check_certificates(folder: Path) -> Iterator[Step]:
    for path in sorted((folder / "certificates").glob("*")):
        problem = problem_of(path)
        yield Step(f"certificate {path.name}", not problem, problem or "accepted")


def _check_verdicts(folder: Path, program: Program, manifest: dict[str, Any]) -> Step:
    """Prove everything again, where the prover is installed; being slower than before is no failure."""
    before = manifest["verdicts"]
    if before is None:
        return Step("verdicts", None, "no requirements were given")
    try:
        from diprl.verify import load_spec

        report = examine(program, load_spec(folder / "spec" / "spec.yaml", program), folder / "certificates")
    except DiprlError as reason:
        return Step("verdicts", None, str(reason))
    now = [finding.answer.verdict for finding in report.findings]
    pairs = list(zip([one["verdict"] for one in before], now, strict=True))
    wrong = sum(old != new and "unknown" not in (old, new) for old, new in pairs)
    slower = sum(new == "unknown" != old for old, new in pairs)
    text = f"{len(pairs)} properties, {now.count('proved')} proved, {wrong} differ, {slower} took too long here"
    return Step("verdicts", False if wrong else None if slower else True, text)

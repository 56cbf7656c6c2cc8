"""Checks a hand-over on another machine: hashes, signatures, code, vectors, proofs. It needs no JAX."""

import csv
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import numpy as np

from diprl.errors import DiprlError
from diprl.export import c, fmu, js, st, structure
from diprl.export.guard import Guard
from diprl.handover.evidence import examine, problem_of
from diprl.handover.folder import FORMAT, MANIFEST, RANGES, files_in, run_vectors
from diprl.handover.vectors import expectations
from diprl.program import Program
from diprl.system.files import read_bytes, read_json, read_text
from diprl.verify import load_spec

LARGEST = 100_000_000
"""Bytes of a file that are read at all."""


class Step(NamedTuple):
    """One thing that was looked at."""

    name: str
    passed: bool | None
    """None where it could not be done here."""
    text: str

    def __str__(self) -> str:
        word = {True: "passed", False: "FAILED", None: "not done"}[self.passed]
        return f"{word:10}{self.name}: {self.text}"


def check_handover(folder: Path) -> Iterator[Step]:
    """Everything that can be checked here, in order; files that were changed end the check."""
    if not (folder / MANIFEST).is_file():
        raise DiprlError(f"{folder} is no hand-over: it has no {MANIFEST}")
    manifest = read_json(folder / MANIFEST)
    if manifest.get("format") != FORMAT:
        raise DiprlError(f"{folder / MANIFEST}: not the manifest of a hand-over that this version knows")
    problems = list(_changes(folder, manifest["files"]))
    signed = sha256(read_bytes(folder / MANIFEST, LARGEST)).hexdigest()
    yield Step("hashes", not problems, "; ".join(problems[:5]) or f"{len(manifest['files'])} files, manifest {signed}")
    if problems:
        return
    program, given = Program.load(folder / "program.json"), manifest["guard"]
    fallback = tuple(given["fallback"]) if isinstance(given["fallback"], list) else given["fallback"]
    guard = Guard(fallback, *(_ranges(given[key]) for key in RANGES))
    found = structure.signature(program)
    yield Step("signature", found == manifest["signature"], found)
    yield _check_code(folder, program, guard, manifest["diprl"])
    yield _check_vectors(folder, program, guard)
    for place, cortex_m in (("this machine", False), ("Cortex-M3 in QEMU", True)):
        text = run_vectors(folder, cortex_m)
        yield Step(f"vectors on {place}", None if text.startswith("not run") else "FAILED" not in text, text)
    for path in sorted((folder / "certificates").glob("*")):
        problem = problem_of(path)
        yield Step(f"certificate {path.name}", not problem, problem or "accepted")
    yield _check_verdicts(folder, program, manifest["verdicts"])


def _changes(folder: Path, wanted: dict[str, str]) -> Iterator[str]:
    there = {path.relative_to(folder).as_posix(): path for path in files_in(folder)}
    there.pop(MANIFEST)
    yield from (f"{name} is missing" for name in sorted(wanted.keys() - there.keys()))
    yield from (f"{name} does not belong to it" for name in sorted(there.keys() - wanted.keys()))
    for name in sorted(wanted.keys() & there.keys()):
        if sha256(read_bytes(there[name], LARGEST)).hexdigest() != wanted[name]:
            yield f"{name} was changed"


def _ranges(plain: Any) -> tuple[tuple[float, float], ...]:
    return tuple((-inf if low is None else low, inf if high is None else high) for low, high in plain)


def _check_code(folder: Path, program: Program, guard: Guard, written_by: str) -> Step:
    """The code is what this program gives, byte by byte; of the unit for co-simulation all but its binary."""
    here, modules = version("diprl"), {"c": c, "st": st, "js": js}
    if written_by != here:
        return Step("code", None, f"written by diprl {written_by}, and {here} may write it otherwise")
    different = []
    for target, module in modules.items():
        for name, text in module.render(program, (), guard).items():
            different += [name] if read_text(folder / target / name) != text else []
    with ZipFile(folder / "fmu" / f"{structure.prefix(program)}.fmu") as packed:
        texts = fmu.parts(program, guard).items()
        different += [name for name, text in texts if packed.read(name).decode() != text]
    return Step("code", not different, f"differs: {', '.join(different)}" if different else "the same when made again")


def _check_vectors(folder: Path, program: Program, guard: Guard) -> Step:
    """The interpreter does with every vector what the table says."""
    width = len(program.signature.features) + 1
    rows = list(csv.reader(read_text(folder / "vectors" / "vectors.csv").splitlines()))[1:]
    features = np.array([[float(cell) for cell in row[1:width]] for row in rows])
    (expected, *_) = expectations(program, guard, features, None)
    found = np.column_stack([expected.actions, expected.status])
    wrong = int((np.array([[float(cell) for cell in row[width:]] for row in rows]) != found).any(axis=1).sum())
    return Step("vectors in the interpreter", wrong == 0, f"{len(rows)} vectors, {wrong} wrong")


def _check_verdicts(folder: Path, program: Program, before: list[str] | None) -> Step:
    """Prove everything again, where the prover is installed; being slower than before is no failure."""
    if before is None:
        return Step("proofs", None, "no requirements were given")
    try:
        report = examine(program, load_spec(folder / "spec" / "spec.yaml", program), folder / "certificates")
    except DiprlError as reason:
        return Step("proofs", None, str(reason))
    now = [finding.answer.verdict for finding in report.findings]
    wrong = sum("unknown" not in pair and len({*pair}) > 1 for pair in zip(before, now, strict=True))
    slower = sum(new == "unknown" != old for old, new in zip(before, now, strict=True))
    text = f"{len(now)} properties, {now.count('proved')} proved, {wrong} differ, {slower} took too long here"
    return Step("proofs", False if wrong else None if slower else True, text)

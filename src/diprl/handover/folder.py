"""Writes a hand-over: one folder and one zip file, with a hash of everything in it."""

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import version
from math import inf, isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from diprl.errors import DiprlError, check_known
from diprl.export import c_check, export, structure
from diprl.export.fixed import FixedPoint, fixed_point
from diprl.export.fmu import archive
from diprl.export.guard import Guard, Ranges
from diprl.handover import card
from diprl.handover.card import Evidence, Facts, Row, Section
from diprl.handover.vectors import expectations, harness, make_vectors, to_csv
from diprl.program import Discrete, Primitives, Program
from diprl.system.files import check_writable, write_json, write_text, write_whole

FORMAT, MANIFEST, CARD = "diprl handover 1", "manifest.json", "MODEL_CARD.md"
TARGETS = ("c", "st", "js", "fmu")


@dataclass(frozen=True)
class Handover:
    """What was written, and how it stands."""

    folder: Path
    zip: Path
    signature: str
    manifest: str
    """The SHA-256 of the manifest, which names the hash of every other file: what somebody signs."""
    rows: list[Row]
    """What was found about requirements, code and vectors."""

    @property
    def good(self) -> bool:
        """Whether all code acts as the interpreter does wherever it was run, and every requirement is proved."""
        return not any(is_wrong(row) or row.get("verdict", "proved") != "proved" for row in self.rows)

    def __str__(self) -> str:
        lines = [f"wrote {self.folder} and {self.zip}", f"program   {self.signature}", f"manifest  {self.manifest}"]
        return "\n".join([*lines, *map(line_of, self.rows)])


def line_of(row: Row) -> str:
    """One row of a table for the terminal."""
    first, *rest = row.values()
    return f"{first:8}  {'; '.join(rest)}"


def is_wrong(row: Row) -> bool:
    """Whether something acts otherwise than the interpreter, or a requirement is not met."""
    told = " ".join(row.values())
    return "DISAGREES" in told or "FAILED" in told or row.get("verdict") == "refuted"


def write_handover(
    program: Program,
    folder: Path,
    spec: Path | None = None,
    facts: Facts | None = None,
    fallback: str | None = None,
    replace: bool = False,
    show: Callable[[str], None] = lambda _: None,
) -> Handover:
    """Prove, export, test and describe a program; the folder appears whole or not at all."""
    if isinstance(program.signature.actions, Primitives):
        raise DiprlError("a program that blends primitives cannot be handed over: its networks would not be covered")
    if folder.exists() and not (replace and (folder / MANIFEST).is_file()):
        raise DiprlError(f"{folder} is there already: choose another --out, or replace a hand-over with --force")
    chosen, facts = _chosen(program, fallback), facts or Facts()
    check_writable(folder.parent)
    with TemporaryDirectory(dir=folder.parent) as temporary:
        place = Path(temporary) / "handover"
        (place / "vectors").mkdir(parents=True)
        show("proving")
        evidence = _prove(program, place, spec) if spec else None
        guard = Guard(chosen, facts.seen, evidence.box() if evidence else (), _limits(program, facts.seen, evidence))
        show("writing and testing code")
        reports = [export(program, target, place / target, guard=guard) for target in TARGETS]
        checks = [(one.target, str(each)) for one in reports for each in one.checks]
        code = [{"target": target, "compared with the interpreter": told} for target, told in checks]
        vectors, tested = _test(program, place, guard)
        rows = evidence.rows if evidence else []
        _describe(program, place, guard, facts, rows, {"Code": code, "Test vectors": vectors, **tested})
        manifest = _manifest(program, place, facts, fallback)
        if folder.exists():
            shutil.rmtree(folder)
        place.rename(folder)
    packed = folder.with_name(f"{folder.name}.zip")
    contents = {path.relative_to(folder.parent).as_posix(): path.read_bytes() for path in files_in(folder)}
    write_whole(packed, archive(contents))
    return Handover(folder, packed, structure.signature(program), manifest, [*rows, *code, *vectors])


def _prove(program: Program, place: Path, spec: Path) -> Evidence:
    """The verdicts, and the specification with what it names."""
    if (spec.parent.parent / MANIFEST).is_file() and (spec.parent.parent / "certificates").is_dir():
        shutil.copytree(spec.parent.parent / "certificates", place / "certificates")  # it is a check: no new search
    evidence = card.gather(program, spec, place / "certificates")
    (place / "spec").mkdir()
    for name, path in {**card.named_files(spec), "spec.yaml": spec}.items():
        shutil.copyfile(path, place / "spec" / name)
    report = re.sub(r", [\d.]+ s\]", "]", str(evidence.report)).rsplit("\n", 1)[0]  # times differ when it is repeated
    sections = {"Trace": evidence.rows, "Report": f"```text\n{report}\n```"}
    write_text(place / "requirements.md", card.markdown("Requirements", sections))
    return evidence


def _test(program: Program, place: Path, guard: Guard) -> tuple[list[Row], dict[str, Section]]:
    """Vectors on every target that there is, and what one decision takes."""
    fixed, margins = _fixed(program, guard)
    features, words, unreached = make_vectors(program, guard)
    expected = expectations(program, guard, features, fixed)
    for name, text in {"vectors.csv": to_csv(program, words, expected[0]), **harness(program, expected)}.items():
        write_text(place / "vectors" / name, text)
    ran = {"vectors": _make(place, "vectors"), "Cortex-M3": _make(place, "cortex-m")}
    missed = {"unreached conditions": ", ".join(map(str, unreached))} if unreached else {}
    stack = {"Stack in bytes by function": _make(place, "stack") or "No compiler told it."}
    sections = {"Longest way": card.pairs(card.longest_way(program)), **stack, "Fixed point": margins}
    return card.pairs({**ran, **missed}), sections


def _fixed(program: Program, guard: Guard) -> tuple[FixedPoint | None, str]:
    """The program in fixed point with a text on its margins, or why there is none."""
    try:
        fixed = fixed_point(program, guard)
    except DiprlError as reason:
        return None, f"There is no fixed-point variant: {reason}."
    margins = ", ".join(f"{margin:.2g}" for margin in fixed.margins[:100]) or "none"
    return fixed, structure.fill("fixed.md", "handover", margins=margins)


def _describe(
    program: Program, place: Path, guard: Guard, facts: Facts, rows: list[Row], tested: dict[str, Section]
) -> None:
    """The program itself, the model card and a list of contents."""
    write_text(place / "program.json", program.to_json())
    write_text(place / "program.txt", str(program))
    unproved = [f"- {' '.join(row.values())}\n" for row in rows if row["verdict"] != "proved"]
    unproved += [] if rows else ["- any requirement: none were given (see --spec)\n"]
    sections: dict[str, Section] = {
        "Signature (SHA-256 of `program.json`)": f"`{structure.signature(program)}`",
        "Program": f"```text\n{structure.printable(str(program), keep=chr(10))}```",
        "Features": card.interface(program, guard, _fixed(program, guard)[0]),
        "Actions and status flags": card.actions(program, guard),
        "Training and score": card.pairs(facts.run) or "Nothing is known: the program came without a run.",
        "Requirements": rows or "None were given.",
        "Limits of validity": facts.seen_in + "\n\n" + structure.fixed_text("validity.md", "handover"),
        "Not verified": "".join(unproved) + structure.fixed_text("not_verified.md", "handover"),
        **tested,
        "Deviations from advisory rules for C": structure.fixed_text("deviations.md", "handover"),
    }
    write_text(place / CARD, card.markdown(f"Model card: {structure.title(program)}", sections))
    write_text(place / "README.md", structure.fixed_text("README.md", "handover"))


def _manifest(program: Program, place: Path, facts: Facts, fallback: str | None) -> str:
    """Write what a receiver needs to make everything again, and the hash of every file; its own hash is returned."""
    hashes = {path.relative_to(place).as_posix(): sha256(path.read_bytes()).hexdigest() for path in files_in(place)}
    made = {"format": FORMAT, "diprl": version("diprl"), "signature": structure.signature(program)}
    write_json(place / MANIFEST, {**made, "facts": asdict(facts), "fallback": fallback, "files": hashes})
    return sha256((place / MANIFEST).read_bytes()).hexdigest()


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if not path.is_dir())


def _make(place: Path, target: str) -> str:
    """What a target of the vectors' Makefile prints; or why it was not run."""
    if not shutil.which("make"):
        return "not run, for want of make"
    with TemporaryDirectory() as temporary:
        for part in ("c", "vectors"):
            shutil.copytree(place / part, Path(temporary) / part)
        command = ["make", "--silent", f"CC={c_check.compiler() or 'cc'}", target]
        done = subprocess.run(command, cwd=Path(temporary) / "vectors", capture_output=True, text=True, check=False)
    said = "; ".join(done.stdout.splitlines())
    return f"FAILED: {said} {done.stderr.strip()[-500:]}" if done.returncode else said


def _chosen(program: Program, fallback: str | None) -> Any:
    """The fallback that a user names: an action, or a number for each output."""
    known = program.signature.actions
    if fallback is None:
        return None
    if isinstance(known, Discrete):
        check_known("action", known.names, fallback)
        return known.names.index(fallback)
    try:
        values = tuple(map(float, fallback.split(",")))
        if all(low <= value <= high for low, value, high in zip(known.low, values, known.high, strict=True)):
            return values
    except ValueError:
        pass
    raise DiprlError(f"--fallback must be {len(known.low)} numbers with commas, within the bounds of the outputs")


def _limits(program: Program, seen: Ranges, evidence: Evidence | None) -> Ranges:
    """Where fixed-point numbers work: bounds, else the box of the specification, else twice what was tried."""
    limits, box = [], evidence.spec.box if evidence else None
    for index, feature in enumerate(program.signature.features):
        own, (low, high) = (feature.low, feature.high), seen[index] if seen else (-inf, inf)
        wider = (max(own[0], low - (high - low) / 2), min(own[1], high + (high - low) / 2))
        choices = [own, (box.low[index], box.high[index]) if box else own, wider]
        limits.append(next((pair for pair in choices if isfinite(pair[0]) and isfinite(pair[1])), own))
    return tuple(limits)

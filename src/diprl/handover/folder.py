"""Writes a hand-over: one folder and one zip file, with a hash of everything in it."""

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from math import inf, isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from diprl.errors import DiprlError, check_known
from diprl.export import ExportReport, c_check, export, structure
from diprl.export.fixed import fixed_point
from diprl.export.fmu import archive
from diprl.export.guard import Guard, Ranges
from diprl.handover.card import Facts, Section, actions, fixed_section, interface, markdown, pairs
from diprl.handover.effort import CORTEX_M, longest_way, stacks
from diprl.handover.evidence import Evidence, gather, named_files
from diprl.handover.vectors import expectations, harness, make_vectors, to_csv
from diprl.program import Discrete, Primitives, Program
from diprl.system.files import check_writable, write_json, write_text, write_whole

FORMAT, MANIFEST = "diprl handover 1", "manifest.json"
TARGETS = ("c", "st", "js", "fmu")
QEMU = "qemu-system-arm"


@dataclass(frozen=True)
class Handover:
    """What was written, and how it stands."""

    program: Program
    folder: Path
    evidence: Evidence | None
    exports: Sequence[ExportReport]
    ran: Mapping[str, str]
    """What the vectors said on each target, or why they did not run there."""
    zip: Path
    manifest: str
    """The SHA-256 of the manifest, which names the hash of every other file: what somebody signs."""

    @property
    def good(self) -> bool:
        """Whether all code acts as the interpreter does wherever it was run, and every requirement is proved."""
        acts = all(one.agrees for one in self.exports) and not any("FAILED" in text for text in self.ran.values())
        return acts and all(row["verdict"] == "proved" for row in (self.evidence.rows if self.evidence else ()))

    def __str__(self) -> str:
        lines = [("", f"wrote {self.folder} and {self.zip}"), ("program", structure.signature(self.program))]
        lines.append(("manifest", self.manifest))
        rows = self.evidence.rows if self.evidence else ()
        lines += [(row["verdict"], f"{row['requirement']} {row['']} ({row['property']})") for row in rows]
        lines += [(report.target, str(check)) for report in self.exports for check in report.checks]
        lines += [("vectors", f"{place}: {text}") for place, text in self.ran.items()]
        return "\n".join(f"{word:13}{text}" if word else text for word, text in lines)


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
    chosen, packed = _chosen(program, fallback), folder.with_name(f"{folder.name}.zip")
    check_writable(folder.parent)
    with TemporaryDirectory(dir=folder.parent) as temporary:
        place = Path(temporary) / "handover"
        place.mkdir()
        show("proving")
        evidence = _prove(program, place, spec) if spec else None
        facts = facts or Facts()
        guard = Guard(chosen, facts.seen, evidence.box() if evidence else (), _limits(program, facts.seen, evidence))
        show("writing and testing code")
        exports = [export(program, target, place / target, guard=guard) for target in TARGETS]
        sections, ran = _test(program, place, guard)
        _describe(program, place, guard, facts, evidence, exports, sections)
        _seal(program, place, guard, evidence)
        whole = {path.relative_to(place).as_posix(): path.read_bytes() for path in files_in(place)}
        if folder.exists():
            shutil.rmtree(folder)
        place.rename(folder)
    write_whole(packed, archive({f"{folder.name}/{name}": content for name, content in whole.items()}))
    signed = sha256(whole[MANIFEST]).hexdigest()
    return Handover(program, folder, evidence, exports, ran, packed, signed)


def _prove(program: Program, place: Path, spec: Path) -> Evidence:
    """The verdicts, and the specification with what it names."""
    evidence = gather(program, spec, place / "certificates")
    (place / "spec").mkdir()
    for name, path in {**named_files(spec), "spec.yaml": spec}.items():
        shutil.copyfile(path, place / "spec" / name)
    report = f"```text\n{evidence.text}\n```"
    write_text(place / "requirements.md", markdown("Requirements", {"Trace": evidence.rows, "Report": report}))
    return evidence


def _test(program: Program, place: Path, guard: Guard) -> tuple[dict[str, Section], dict[str, str]]:
    """Vectors on every target that there is, and what one decision takes."""
    why_not = ""
    try:
        fixed = fixed_point(program, guard)
    except DiprlError as reason:
        fixed, why_not = None, str(reason)
    features, words, unreached = make_vectors(program, guard)
    expected = expectations(program, guard, features, fixed)
    (place / "vectors").mkdir()
    for name, text in {"vectors.csv": to_csv(program, words, expected[0]), **harness(program, expected)}.items():
        write_text(place / "vectors" / name, text)
    ran = {"this machine": run_vectors(place), "Cortex-M3 in QEMU": run_vectors(place, cortex_m=True)}
    missed = {"conditions that none reaches": ", ".join(map(str, unreached)) or "none"}
    sections = {
        "Test vectors": pairs({"vectors": str(len(features)), **missed, **ran}),
        "Longest way through the program": str(longest_way(program)),
        "Stack of `control` and what it calls": pairs(stacks(program, place / "c")),
        "Fixed point": fixed_section(program, guard, fixed, why_not),
    }
    return sections, ran


def _describe(
    program: Program,
    place: Path,
    guard: Guard,
    facts: Facts,
    evidence: Evidence | None,
    exports: Sequence[ExportReport],
    tests: Mapping[str, Section],
) -> None:
    """The program itself, the model card and a list of contents."""
    write_text(place / "program.json", program.to_json())
    write_text(place / "program.txt", str(program))
    rows = evidence.rows if evidence else [{"requirement": "none were given (see --spec)", "verdict": "not verified"}]
    open_rows = [f"- {' '.join(row.values())}\n" for row in rows if row["verdict"] != "proved"]
    checks = [
        {"target": one.target, "compared with the interpreter": str(check)} for one in exports for check in one.checks
    ]
    sections: dict[str, Section] = {
        "Signature (SHA-256 of `program.json`)": f"`{structure.signature(program)}`",
        "Program": f"```text\n{structure.printable(str(program), keep=chr(10))}```",
        "Features": interface(program, guard),
        "Ranges that were tried": facts.seen_in or "No episodes were played, so the flag UNSEEN is never raised.",
        "Actions and status flags": pairs(actions(program, guard)),
        "Training": pairs(facts.training) or "Nothing is known: the program came without a run.",
        "Score": facts.score or "None was measured.",
        "Requirements": rows,
        "Limits of validity": structure.fixed_text("validity.md", "handover"),
        "Not verified": "".join(open_rows) + structure.fixed_text("not_verified.md", "handover"),
        "Code": checks,
        **tests,
        "Deviations from advisory rules for C": structure.fixed_text("deviations.md", "handover"),
    }
    write_text(place / "MODEL_CARD.md", markdown(f"Model card: {structure.title(program)}", sections))
    write_text(place / "README.md", structure.fixed_text("README.md", "handover"))


def _seal(program: Program, place: Path, guard: Guard, evidence: Evidence | None) -> None:
    """The manifest: what a receiver needs to repeat everything, and the hash of every file."""
    finite = {key: [[end if isfinite(end) else None for end in pair] for pair in getattr(guard, key)] for key in RANGES}
    content = {
        "format": FORMAT,
        "diprl": version("diprl"),
        "signature": structure.signature(program),
        "guard": {"fallback": guard.fallback, **finite},
        "verdicts": [one.answer.verdict for one in evidence.report.findings] if evidence else None,
        "files": {
            path.relative_to(place).as_posix(): sha256(path.read_bytes()).hexdigest() for path in files_in(place)
        },
    }
    write_json(place / MANIFEST, content)


RANGES = ("seen", "proved", "limits")


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if not path.is_dir())


def run_vectors(folder: Path, cortex_m: bool = False) -> str:
    """What the vectors say on this machine or in QEMU; or why they were not run."""
    needed = ["make", *([CORTEX_M[0], QEMU] if cortex_m else [])]
    missing = [tool for tool in needed if not shutil.which(tool)] + ["a C compiler"] * (not c_check.compiler())
    if missing:
        return f"not run, for want of {' and '.join(missing)}"
    with TemporaryDirectory() as temporary:
        for part in ("c", "vectors"):
            shutil.copytree(folder / part, Path(temporary) / part)
        command = ["make", "--silent", f"CC={c_check.compiler()}", "cortex-m" if cortex_m else "vectors"]
        try:
            done = subprocess.run(
                command, cwd=Path(temporary) / "vectors", capture_output=True, text=True, check=False, timeout=120
            )
        except subprocess.TimeoutExpired:
            return "FAILED: it did not end within 120 s"
    lines = done.stdout.splitlines()
    if done.returncode or "all vectors pass" not in lines:
        return f"FAILED: {(done.stdout + done.stderr).strip()[-500:]}"
    return "; ".join(line for line in lines if "vectors, " in line)


def _chosen(program: Program, fallback: str | None) -> Any:
    """The fallback that a user names: an action, or a number for each output."""
    known = program.signature.actions
    if fallback is None:
        return None
    if isinstance(known, Discrete):
        check_known("action", known.names, fallback)
        return known.names.index(fallback)
    try:
        values = tuple(float(text) for text in fallback.split(","))
        fits = all(low <= value <= high for low, value, high in zip(known.low, values, known.high, strict=True))
    except ValueError:
        values, fits = (), False
    if not fits:
        raise DiprlError(f"--fallback must be {len(known.low)} numbers with commas, within the bounds of the outputs")
    return values


def _limits(program: Program, seen: Ranges, evidence: Evidence | None) -> Ranges:
    """Where fixed-point numbers work: bounds, else the box of the specification, else twice what was tried."""
    limits, box = [], evidence.spec.box if evidence else None
    for index, feature in enumerate(program.signature.features):
        low, high = seen[index] if seen else (-inf, inf)
        wider = (
            (max(feature.low, 1.5 * low - 0.5 * high), min(feature.high, 1.5 * high - 0.5 * low))
            if seen
            else (low, high)
        )
        choices = [(feature.low, feature.high), (box.low[index], box.high[index]) if box else wider, wider]
        limits.append(next((pair for pair in choices if all(map(isfinite, pair))), (feature.low, feature.high)))
    return tuple(limits)

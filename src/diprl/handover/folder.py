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
from diprl.export import c_check, export, structure
from diprl.export.fixed import FixedPoint, fixed_point
from diprl.export.fmu import archive
from diprl.export.guard import Guard, Ranges
from diprl.handover.card import Contents, Facts, card
from diprl.handover.effort import CORTEX_M, effort_of
from diprl.handover.evidence import Evidence, gather, named_files, write_evidence
from diprl.handover.vectors import expectations, harness, make_vectors, to_csv
from diprl.program import Discrete, Primitives, Program
from diprl.system.files import check_writable, write_json, write_text, write_whole

FORMAT = "diprl handover 1"
TARGETS = ("c", "st", "js", "fmu")
MANIFEST, CARD = "manifest.json", "MODEL_CARD.md"
QEMU = "qemu-system-arm"


@dataclass(frozen=True)
class Handover:
    """What was written, and how it stands."""

    folder: Path
    zip: Path
    contents: Contents
    manifest: str
    """The SHA-256 of the manifest, which names the hash of every other file: what somebody signs."""

    @property
    def agrees(self) -> bool:
        """Whether all code acts as the interpreter does, wherever it was run."""
        passed = all("FAIL" not in text for text in self.contents.ran.values())
        return passed and all(report.agrees for report in self.contents.exports)

    @property
    def proved(self) -> bool:
        return self.contents.evidence is None or self.contents.evidence.proved

    def __str__(self) -> str:
        contents, evidence = self.contents, self.contents.evidence
        lines = [f"wrote {self.folder} and {self.zip}", f"    program      {structure.signature(contents.program)}"]
        lines.append(f"    manifest     {self.manifest}")
        for one in evidence.requirements if evidence else ():
            lines.append(f"    {one.verdict:12} {one.key}: {one.text}")
        lines += [f"    {report.target:12} {check}" for report in contents.exports for check in report.checks]
        lines += [f"    vectors      {place}: {text}" for place, text in contents.ran.items()]
        return "\n".join(lines)


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
    check_writable(folder.parent)
    with TemporaryDirectory(dir=folder.parent) as temporary:
        place = Path(temporary) / "handover"
        place.mkdir()
        contents = _write(program, place, spec, facts or Facts(), _chosen(program, fallback), show)
        hashes = {str(path.relative_to(place).as_posix()): _hash(path) for path in _files(place)}
        write_json(place / MANIFEST, _manifest(contents, hashes))
        whole = {path.relative_to(place).as_posix(): path.read_bytes() for path in _files(place)}
        if folder.exists():
            shutil.rmtree(folder)
        place.rename(folder)
    packed = folder.with_name(f"{folder.name}.zip")
    write_whole(packed, archive({f"{folder.name}/{name}": content for name, content in whole.items()}))
    return Handover(folder, packed, contents, _hash(folder / MANIFEST))


def _write(
    program: Program, place: Path, spec: Path | None, facts: Facts, chosen: Any, show: Callable[[str], None]
) -> Contents:
    write_text(place / "program.json", program.to_json())
    write_text(place / "program.txt", str(program))
    evidence = None
    if spec is not None:
        show("proving")
        evidence = gather(program, spec, place / "certificates")
        (place / "spec").mkdir()
        for name, path in {"spec.yaml": spec, **named_files(spec)}.items():
            shutil.copyfile(path, place / "spec" / name)
        write_evidence(place, evidence)
    guard = Guard(chosen, facts.seen, evidence.box() if evidence else (), _limits(program, facts.seen, evidence))
    show("writing and checking code")
    exports = [export(program, target, place / target, guard=guard) for target in TARGETS]
    fixed, why_not = _fixed(program, guard)
    show("testing")
    vectors = make_vectors(program, guard)
    expected = expectations(program, guard, vectors, fixed)
    (place / "vectors").mkdir()
    for name, text in {"vectors.csv": to_csv(program, vectors, expected[0]), **harness(program, expected)}.items():
        write_text(place / "vectors" / name, text)
    ran = {"this machine": run_vectors(place), "Cortex-M3 in QEMU": run_vectors(place, cortex_m=True)}
    effort = effort_of(program, place / "c")
    contents = Contents(
        program, guard, facts, evidence, exports, vectors, ran, effort, fixed, why_not, chosen is not None
    )
    write_text(place / CARD, card(contents))
    write_text(place / "README.md", structure.fill("README.md", "handover", title=structure.title(program)))
    return contents


def run_vectors(folder: Path, cortex_m: bool = False) -> str:
    """What the vectors say on this machine or in QEMU; or why they were not run."""
    needed = [CORTEX_M[0], QEMU] if cortex_m else []
    missing = [tool for tool in ("make", *needed) if not shutil.which(tool)]
    missing += [] if c_check.compiler() or cortex_m else ["a C compiler"]
    if missing:
        return f"not run: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
    with TemporaryDirectory() as temporary:
        for part in ("c", "vectors"):
            shutil.copytree(folder / part, Path(temporary) / part)
        command = ["make", "--silent", "-C", str(Path(temporary) / "vectors"), "cortex-m" if cortex_m else "vectors"]
        if not cortex_m:
            command.append(f"CC={c_check.compiler()}")
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        except subprocess.TimeoutExpired:
            return "FAILED: it did not end within 120 s"
    lines = done.stdout.splitlines()
    if "all vectors pass" in lines and lines[0] == structure.signature(Program.load(folder / "program.json")):
        return "; ".join(line for line in lines if "vectors, " in line)
    return f"FAILED: {(done.stdout + done.stderr).strip()[-500:]}"


def _chosen(program: Program, fallback: str | None) -> Any:
    """The fallback that a user names: an action, or a number for each output."""
    actions = program.signature.actions
    if fallback is None:
        return None
    if isinstance(actions, Discrete):
        check_known("action", actions.names, fallback)
        return actions.names.index(fallback)
    try:
        values = tuple(float(text) for text in fallback.split(","))
    except ValueError:
        values = ()
    bounds = list(zip(actions.low, actions.high, strict=True))
    if len(values) != len(bounds) or not all(
        low <= one <= high for one, (low, high) in zip(values, bounds, strict=True)
    ):
        raise DiprlError(f"--fallback must be {len(bounds)} numbers with commas, within the bounds of the outputs")
    return values


def _limits(program: Program, seen: Ranges, evidence: Evidence | None) -> Ranges:
    """Where fixed-point numbers work: bounds, else the box of the specification, else twice what was tried."""
    limits = []
    for index, feature in enumerate(program.signature.features):
        tried = seen[index] if seen else (-inf, inf)
        half = tried[1] - tried[0]
        box = evidence.spec.box if evidence else None
        choices = [(feature.low, feature.high), (box.low[index], box.high[index]) if box else (-inf, inf)]
        choices.append((max(feature.low, tried[0] - half / 2), min(feature.high, tried[1] + half / 2)))
        limits.append(next((pair for pair in choices if all(map(isfinite, pair))), (feature.low, feature.high)))
    return tuple(limits)


def _fixed(program: Program, guard: Guard) -> tuple[FixedPoint | None, str]:
    try:
        return fixed_point(program, guard), ""
    except DiprlError as reason:
        return None, str(reason)


def _manifest(contents: Contents, hashes: Mapping[str, str]) -> dict[str, Any]:
    guard, evidence = contents.guard, contents.evidence
    ranges = {key: _plain(getattr(guard, key)) for key in ("seen", "proved", "limits")}
    return {
        "format": FORMAT,
        "diprl": version("diprl"),
        "task": contents.program.task,
        "signature": structure.signature(contents.program),
        "guard": {"fallback": guard.fallback, **ranges},
        "verdicts": evidence.verdicts() if evidence else None,
        "files": dict(hashes),
    }


def _plain(ranges: Ranges) -> list[list[float | None]]:
    """Ranges in strict JSON: an infinite end is null."""
    return [[end if isfinite(end) else None for end in pair] for pair in ranges]


def read_ranges(plain: Sequence[Sequence[float | None]]) -> Ranges:
    """Ranges as `_plain` writes them."""
    return tuple((-inf if low is None else low, inf if high is None else high) for low, high in plain)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _hash(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()

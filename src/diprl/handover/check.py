"""Checks a hand-over on another machine: its hashes, and that everything comes out the same when made again. No JAX."""

from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zipfile import ZipFile

from diprl.errors import DiprlError
from diprl.export import structure
from diprl.handover.card import Facts
from diprl.handover.folder import CARD, FORMAT, MANIFEST, files_in, is_wrong, line_of, write_handover
from diprl.program import Program
from diprl.system.files import read_bytes, read_json
from diprl.verify import checker
from diprl.verify.closed_loop.decide import LARGEST as LARGEST_CERTIFICATE

LARGEST = 100_000_000
"""Bytes of a file that are read at all."""


class Step(NamedTuple):
    """One thing that was looked at."""

    passed: bool | None
    """None where it is only told."""
    text: str

    def __str__(self) -> str:
        return f"{ {True: 'passed', False: 'FAILED', None: ''}[self.passed]:8}{self.text}"


def check_handover(folder: Path) -> Iterator[Step]:
    """Everything that can be checked here, in order; files that were changed end the check."""
    if not (folder / MANIFEST).is_file():
        raise DiprlError(f"{folder} is no hand-over: it has no {MANIFEST}")
    manifest = read_json(folder / MANIFEST)
    if manifest.get("format") != FORMAT or manifest.get("diprl") != version("diprl"):
        wanted = f"diprl {manifest.get('diprl')!s:.20}" if manifest.get("format") == FORMAT else FORMAT
        raise DiprlError(f"{folder / MANIFEST} needs {wanted} to check it, not diprl {version('diprl')}")
    changes = list(_changes(folder, manifest["files"]))
    signed = sha256(read_bytes(folder / MANIFEST, LARGEST)).hexdigest()
    yield Step(not changes, "; ".join(changes[:5]) or f"{len(manifest['files'])} files as in the manifest {signed}")
    if not changes:
        yield from _make_again(folder, manifest)


def _changes(folder: Path, wanted: dict[str, str]) -> Iterator[str]:
    there = {path.relative_to(folder).as_posix(): path for path in files_in(folder)}
    there.pop(MANIFEST)
    yield from (f"{name} is missing" for name in sorted(wanted.keys() - there.keys()))
    yield from (f"{name} does not belong to it" for name in sorted(there.keys() - wanted.keys()))
    for name in sorted(wanted.keys() & there.keys()):
        if sha256(read_bytes(there[name], LARGEST)).hexdigest() != wanted[name]:
            yield f"{name} was changed"


def _make_again(folder: Path, manifest: dict[str, Any]) -> Iterator[Step]:
    """Prove, export and test once more; all but what depends on the machine has to be the same."""
    program = Program.load(folder / "program.json")
    found, certificates = structure.signature(program), sorted((folder / "certificates").glob("*"))
    yield Step(found == manifest["signature"], f"signature {found}")
    for path in certificates:
        problem = checker.problem_of(read_json(path, LARGEST_CERTIFICATE))
        yield Step(not problem, f"certificate {path.name}: {problem or 'accepted'}")
    spec, facts = folder / "spec" / "spec.yaml", Facts(**manifest["facts"])
    with TemporaryDirectory() as temporary:
        again = Path(temporary) / "again"
        made = write_handover(program, again, spec if spec.exists() else None, facts, manifest["fallback"])
        names = [name for name in manifest["files"] if name != CARD]  # it tells what ran where
        different = [name for name in names if _content(folder / name) != _content(again / name)]
    told = f"made again: {'; '.join(different)} differs" if different else "the same when made again"
    yield Step(not different, told)
    yield from (Step(False if is_wrong(row) else None, line_of(row)) for row in made.rows)


def _content(path: Path) -> Any:
    """What must be the same: every byte, and of a unit for co-simulation all but its binary."""
    if path.suffix != ".fmu" or not path.is_file():
        return path.read_bytes() if path.is_file() else None
    with ZipFile(path) as packed:
        return {name: packed.read(name) for name in packed.namelist() if not name.startswith("binaries/")}

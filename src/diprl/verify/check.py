"""The one door: a program and a specification in, a report out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.verify.context import Context
from diprl.verify.exact.linear import Box, bounds_of
from diprl.verify.exact.question import Deadline, Undecided, load_z3
from diprl.verify.plants.plant import Plant
from diprl.verify.plants.read import load_plant, plant_of
from diprl.verify.properties import KINDS, LoopProperty, Property
from diprl.verify.report import Answer, Finding, Report
from diprl.verify.spec.asked import Asked, read_positive, read_text
from diprl.verify.spec.tree import SpecError, read_tree

_MAX_BYTES = 4_000_000


@dataclass(frozen=True)
class Spec:
    """What to ask of one program."""

    properties: tuple[Property, ...]
    task: str = ""
    """The environment in which witnesses are replayed."""
    timeout: float = 10.0
    """Seconds for each property."""
    box: Box | None = None
    """Where properties are examined unless they say otherwise."""
    plant: Plant | None = None
    """What closes the loop."""

    def __post_init__(self) -> None:
        if not self.timeout > 0.0:
            raise SpecError(f"the time limit must be a number of seconds above zero, not {self.timeout}")


def load_spec(path: str | Path, program: Program) -> Spec:
    """Read a specification from a file; errors name the file and, where they can, the line."""
    path = Path(path)
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise SpecError("the file is too large to be a specification")
        return parse_spec(path.read_bytes().decode("utf-8"), program, path.parent)
    except OSError as error:
        raise SpecError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path}: is not text in UTF-8") from None
    except DiprlError as error:
        raise SpecError(f"{path}: {error}") from None


def parse_spec(text: str, program: Program, folder: str | Path = ".", plant: Plant | None = None) -> Spec:
    """Read a specification; `folder` is where the other files that it names are looked for."""
    everywhere, folder = bounds_of(program.signature), Path(folder)
    asked = Asked(read_tree(text), "a specification", program, everywhere, folder)
    box = asked.take("box", asked.inner_box, everywhere)
    task = asked.take("task", read_text, program.task)
    plant = asked.take("plant", lambda tree: load_plant(folder / read_text(tree)), plant or plant_of(task))
    timeout = asked.take("timeout", read_positive, 10.0)
    listing = asked.take("properties", lambda tree: tree)
    if not isinstance(listing.value, tuple) or not listing.value:
        raise listing.error("'properties:' must be a list with at least one property")
    asked.finish()
    parts = [Asked(item, "a property", program, box, folder, plant) for item in listing.value]
    return Spec(tuple(_property(part, number) for number, part in enumerate(parts, 1)), task, timeout, box, plant)


def _property(asked: Asked, number: int) -> Property:
    kind = asked.choice("kind", list(KINDS), "a kind of property")
    name = asked.take("name", read_text, f"property {number}")
    asked.box = asked.take("within", asked.inner_box, asked.box)
    found = KINDS[kind].read(name, asked)
    asked.finish()
    return found


def verify(
    program: Program,
    spec: Spec | str | Path,
    progress: Callable[[float, str], None] | None = None,
    certificates: str | Path | None = None,
) -> Report:
    """Examine every property of a specification, given as data or as a file.

    `progress` is told the share that is done and what is going on. Proofs about closed loops are written to the
    folder `certificates`, and looked for there first.
    """
    load_z3()
    if not isinstance(spec, Spec):
        spec = load_spec(spec, program)
    count, folder = len(spec.properties), None if certificates is None else Path(certificates)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    findings = []
    for number, wanted in enumerate(spec.properties):

        def told(share: float, what: str, before: int = number, name: str = wanted.name) -> None:
            if progress is not None:
                progress((before + share) / count, f"{name}: {what}")

        told(0.0, "begins")
        findings.append(_finding(wanted, spec, Context(program, spec.plant, Deadline(spec.timeout), told, folder)))
    box = spec.box.text(program.signature.feature_names) if spec.box else ""
    replay = f"replayed in the interpreter{f' and in {spec.plant.name}' if spec.plant else ''}"
    assumptions = (
        "'proved' is about the arithmetic that runs, float64, unless the verdict says 'in real arithmetic only'",
        *([f"the box {box}, unless a property says otherwise"] if box else ()),
        f"'refuted' means that a witness of 64-bit floats was {replay}, or that no state reaches a branch",
    )
    return Report(tuple(findings), assumptions)


def _finding(wanted: Property, spec: Spec, context: Context) -> Finding:
    start, features = monotonic(), context.names
    fits = len(wanted.box.low) == len(wanted.box.high) == len(features)
    if not fits or not all(low <= high for low, high in zip(wanted.box.low, wanted.box.high, strict=True)):
        raise SpecError(f"the box of '{wanted.name}' must have an interval for each of {len(features)} features")
    try:
        answer = wanted.check(context)
    except Undecided as reason:
        answer = Answer("unknown", str(reason))
    if not isinstance(wanted, LoopProperty) and wanted.box != spec.box:
        answer = replace(answer, assumptions=(f"the box {wanted.box.text(features)}", *answer.assumptions))
    kind = wanted.kind if isinstance(wanted, LoopProperty) else type(wanted).__name__.lower()
    return Finding(wanted.name, kind, answer, monotonic() - start)

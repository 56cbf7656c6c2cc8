"""The one door: a program and a specification in, a report out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.system.files import read_text as read_text_file
from diprl.verify.closed_loop.models import model_of
from diprl.verify.context import Context
from diprl.verify.exact.linear import Box, bounds_of
from diprl.verify.exact.question import Deadline, Undecided, load_z3
from diprl.verify.properties import KINDS, Property, Safe
from diprl.verify.report import Answer, Finding, Report
from diprl.verify.spec.asked import Asked, read_positive, read_text
from diprl.verify.spec.tree import SpecError, read_tree


@dataclass(frozen=True)
class Spec:
    """What to ask of one program."""

    properties: tuple[Property, ...]
    task: str = ""
    """The environment in which witnesses are replayed and whose dynamics close the loop."""
    timeout: float = 10.0
    """Seconds for each property."""
    box: Box | None = None
    """Where properties are examined unless they say otherwise."""

    def __post_init__(self) -> None:
        if not self.timeout > 0.0:
            raise SpecError(f"the time limit must be a number of seconds above zero, not {self.timeout}")


def load_spec(path: str | Path, program: Program) -> Spec:
    """Read a specification from a file; errors name the file and, where they can, the line."""
    path = Path(path)
    text = read_text_file(path)
    try:
        return parse_spec(text, program, path.parent)
    except DiprlError as error:
        raise SpecError(f"{path}: {error}") from None


def parse_spec(text: str, program: Program, folder: str | Path = ".") -> Spec:
    """Read a specification; `folder` is where the other programs that it names are looked for.

    >>> program = Program.from_text("features: level in [0, 2]\\nactions: off, on\\n\\nif level > 1: on\\nelse: off")
    >>> spec = parse_spec("properties: [{kind: never, action: off, when: [level > 1.5]}]", program)
    >>> verify(program, spec).proved
    True
    """
    everywhere, folder = bounds_of(program.signature), Path(folder)
    asked = Asked(read_tree(text), "a specification", program, everywhere, folder)
    task = asked.take("task", read_text, program.task)
    if program.task and task != program.task:
        raise asked.error(f"the specification is about {task:.80}: take one for {program.task}, as the program is")
    box = asked.take("box", asked.inner_box, everywhere)
    timeout = asked.take("timeout", read_positive, 10.0)
    asked.take("requirements", lambda tree: tree, None)  # sentences that a hand-over traces to properties
    listing = asked.take("properties", lambda tree: tree)
    if not isinstance(listing.value, tuple) or not listing.value:
        raise listing.error("'properties:' must be a list with at least one property")
    asked.finish()
    parts = [Asked(item, "a property", program, box, folder) for item in listing.value]
    return Spec(tuple(_property(part, number) for number, part in enumerate(parts, 1)), task, timeout, box)


def _property(asked: Asked, number: int) -> Property:
    kind = asked.choice("kind", list(KINDS), "a kind of property")
    name = asked.take("name", read_text, f"property {number}")
    asked.take("requirement", read_text, "")
    asked.box = asked.take("within", asked.inner_box, asked.box)
    found = KINDS[kind].read(name, asked)
    asked.finish()
    return found


def verify(program: Program, spec: Spec | str | Path, show: Callable[[Finding], None] = lambda _: None) -> Report:
    """Examine every property of a specification, given as data or as a file; each finding is shown."""
    load_z3()
    if not isinstance(spec, Spec):
        spec = load_spec(spec, program)
    findings = tuple(_finding(program, spec, wanted, show) for wanted in spec.properties)
    box = spec.box.text(program.signature.feature_names) if spec.box else ""
    replay = f"replayed in the interpreter{f' and in {spec.task}' if model_of(spec.task, program) else ''}"
    assumptions = (
        "'proved' is about real arithmetic on the program's own 64-bit numbers, unless a line says more",
        *([f"the box {box}, unless a property says otherwise"] if box else ()),
        f"'refuted' means that a witness of 64-bit floats was {replay}, or that no state reaches a branch",
    )
    return Report(findings, assumptions)


def _finding(program: Program, spec: Spec, wanted: Property, show: Callable[[Finding], None]) -> Finding:
    start, features = monotonic(), program.signature.feature_names
    fits = len(wanted.box.low) == len(wanted.box.high) == len(features)
    if not fits or not all(low <= high for low, high in zip(wanted.box.low, wanted.box.high, strict=True)):
        raise SpecError(f"the box of '{wanted.name}' must have an interval for each of {len(features)} features")
    try:
        answer = wanted.check(Context(program, model_of(spec.task, program), Deadline(spec.timeout)))
    except Undecided as reason:
        answer = Answer("unknown", str(reason))
    if not isinstance(wanted, Safe) and wanted.box != spec.box:
        answer = replace(answer, assumptions=(f"the box {wanted.box.text(features)}", *answer.assumptions))
    found = Finding(wanted.name, type(wanted).__name__.lower(), answer, monotonic() - start)
    show(found)
    return found

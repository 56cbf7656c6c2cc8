"""The one door: a program and a specification in, a report out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from diprl.program import Program
from diprl.system.files import check_writable
from diprl.verify.context import Context
from diprl.verify.exact.linear import ARITHMETICS, Box, bounds_of
from diprl.verify.exact.question import Deadline, Undecided, load_z3
from diprl.verify.plants.plant import Plant
from diprl.verify.plants.read import load_plant, plant_of
from diprl.verify.properties import KINDS, LoopProperty, Property
from diprl.verify.report import Answer, Finding, Report
from diprl.verify.spec import Asked, SpecError, Tree, read_file, read_tree


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
    arithmetic: str = "float64"
    """In which the program runs: float64 or float32."""

    def __post_init__(self) -> None:
        if not self.timeout > 0.0:
            raise SpecError(f"the time limit must be a number of seconds above zero, not {self.timeout}")


def load_spec(path: str | Path, program: Program) -> Spec:
    """Read a specification from a file; errors name the file and, where they can, the line."""
    path = Path(path)
    return read_file(path, lambda text: parse_spec(text, program, path.parent))


def parse_spec(text: str, program: Program, folder: str | Path = ".", plant: Plant | None = None) -> Spec:
    """Read a specification; `folder` is where the other files that it names are looked for.

    >>> program = Program.from_text("features: level in [0, 2]\\nactions: off, on\\n\\nif level > 1: on\\nelse: off")
    >>> spec = parse_spec("properties: [{kind: never, action: off, when: [level > 1.5]}]", program)
    >>> verify(program, spec).proved
    True
    """
    everywhere, folder = bounds_of(program.signature), Path(folder)
    asked = Asked(read_tree(text), "a specification", program, everywhere, folder)
    task = asked.take("task", Tree.text, program.task)
    if program.task and task != program.task:
        raise asked.error(f"the specification is about {task:.80}: take one for {program.task}, as the program is")
    plant = asked.take("plant", lambda tree: load_plant(folder / tree.text()), plant or plant_of(task))
    box = asked.take("box", asked.inner_box, everywhere)
    timeout = asked.take("timeout", Tree.positive, 10.0)
    arithmetic = asked.choice("arithmetic", list(ARITHMETICS), "a kind of arithmetic", "float64")
    asked.take("requirements", lambda tree: tree, None)  # sentences that a hand-over traces to properties
    listing = asked.take("properties", lambda tree: tree)
    if not isinstance(listing.value, tuple) or not listing.value:
        raise listing.error("'properties:' must be a list with at least one property")
    asked.finish()
    parts = [Asked(item, "a property", program, box, folder, plant) for item in listing.value]
    properties = tuple(_property(part, number) for number, part in enumerate(parts, 1))
    return Spec(properties, task, timeout, box, plant, arithmetic)


def _property(asked: Asked, number: int) -> Property:
    kind = asked.choice("kind", list(KINDS), "a kind of property")
    name = asked.take("name", Tree.text, f"property {number}")
    asked.take("requirement", Tree.text, "")
    asked.box = asked.take("within", asked.inner_box, asked.box)
    found = KINDS[kind].read(name, asked)
    asked.finish()
    return found


def verify(
    program: Program,
    spec: Spec | str | Path,
    progress: Callable[[float, str], None] = lambda share, what: None,
    certificates: str | Path | None = None,
    processes: int = 1,
) -> Report:
    """Examine every property of a specification, given as data or as a file.

    `progress` is told the share that is done and what is going on. Proofs about closed loops are written to the
    folder `certificates`, and looked for there first. With more `processes`, such proofs are found faster, and are
    the same; a script that asks for them must guard its own code with `if __name__ == "__main__"`.
    """
    load_z3()
    if not isinstance(spec, Spec):
        spec = load_spec(spec, program)
    folder = None if certificates is None else Path(certificates)
    if folder is not None:
        check_writable(folder)
    findings = []
    for number, wanted in enumerate(spec.properties):

        def told(share: float, what: str, number: int = number, name: str = wanted.name) -> None:
            progress((number + share) / len(spec.properties), f"{name}: {what}" if what else name)

        told(0.0, "")
        context = Context(program, spec.plant, Deadline(spec.timeout), spec.arithmetic, told, folder, processes)
        findings.append(_finding(wanted, spec, context))
    box = spec.box.text(program.signature.feature_names) if spec.box else ""
    environment = f" and in {spec.plant.environment}" if spec.plant and spec.plant.environment else ""
    assumptions = (
        f"'proved' is about the arithmetic that runs, {spec.arithmetic}, unless it says 'in real arithmetic only'",
        *([f"the box {box}, unless a property says otherwise"] if box else ()),
        f"'refuted': a witness of floats was replayed in the interpreter{environment}, or no state reaches a branch",
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

"""A functional mock-up unit: FMI 2.0 for co-simulation with the emitted C inside, built where there is a compiler."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from math import isinf
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import quoteattr
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from diprl.export import c, c_check, structure
from diprl.export.guard import PLAIN, Guard
from diprl.export.parity import unchecked
from diprl.program import Discrete, Feature, Primitives, Program
from diprl.program.evaluate import clip
from diprl.program.networks import Network
from diprl.program.signature import outputs

PLATFORMS = {"linux": ("linux64", "so"), "darwin": ("darwin64", "dylib"), "win32": ("win64", "dll")}
"""Where a unit keeps its binary, and how that ends."""
check = unchecked("unit", "its C is that of the C export; any tool for FMI 2.0 can step it")


def render(program: Program, networks: Sequence[Network] = (), guard: Guard = PLAIN) -> dict[str, bytes]:
    """The unit as one file; networks stay outside, so that a blend takes the primitives' actions."""
    name, texts = structure.prefix(program), parts(program, guard)
    files = {path: text.encode() for path, text in texts.items()}
    if c_check.compiler():
        folder, suffix = PLATFORMS.get(sys.platform, PLATFORMS["linux"])
        with TemporaryDirectory() as place:
            for path, text in texts.items():
                (Path(place) / Path(path).name).write_text(text, encoding="utf-8")
            c_check.build(Path(place), ["-fvisibility=hidden", f"{name}.c", "fmi2.c"])
            files[f"binaries/{folder}/{name}.{suffix}"] = (Path(place) / c_check.BUILT).read_bytes()
    return {f"{name}.fmu": archive(files)}


def parts(program: Program, guard: Guard = PLAIN) -> dict[str, str]:
    """What the unit holds besides its binary."""
    name = structure.prefix(program)
    files = {f"sources/{name}.h": c.header(program), f"sources/{name}.c": c.source(program, (), guard)}
    guid = sha256("".join(files.values()).encode()).hexdigest()
    called = c.call(program, "self->input")
    files["sources/fmi2.c"] = structure.fill("fmi2.c", name=name, guid=guid, not_offered=_not_offered(), **called)
    return files | {"modelDescription.xml": _description(program, guid)}


def _not_offered() -> str:
    """The functions of the interface that this unit answers with an error, each with its prototype."""
    found = []
    for line in structure.fixed_text("fmi2_not_offered.txt").splitlines():
        names = re.findall(r"(\w+)[,)]", line)  # of the parameters in f(int one, void **two)
        unused = "".join(f"    (void){name};\n" for name in names)
        found.append(structure.fill("fmi2_error.c", function=line, unused=unused))
    return "\n".join(found)


def archive(files: Mapping[str, bytes]) -> bytes:
    """A zip file that is the same whenever and wherever it is made."""
    stream = BytesIO()
    with ZipFile(stream, "w") as packed:
        for name, content in sorted(files.items()):
            packed.writestr(ZipInfo(name), content, ZIP_DEFLATED)
    return stream.getvalue()


def _signals(program: Program) -> tuple[list[Feature], list[Feature]]:
    """What goes in and what comes out, with names that differ."""
    actions, inputs = program.signature.actions, structure.variables(program)
    named = zip(inputs.features, program.signature.features, strict=True)
    given = [replace(feature, name=name) for name, feature in named]
    given += [Feature(entry) for entries in inputs.entries for entry in entries]
    if isinstance(actions, Discrete):
        return given, [Feature("chosen_action", meaning=", ".join(map("{} {}".format, range(99), actions.names)))]
    if isinstance(actions, Primitives):
        return given, [Feature(f"blended_action[{entry}]") for entry in range(len(actions.low))]
    return given, [replace(one, name=f"out_{one.name}") for one in outputs(actions)]


def _description(program: Program, guid: str) -> str:
    given, acted = _signals(program)
    kind = "Integer" if isinstance(program.signature.actions, Discrete) else "Real"
    lines = [_variable(number, one, "input", "Real") for number, one in enumerate(given)]
    lines += [_variable(number, one, "output", kind) for number, one in enumerate(acted, len(given))]
    lines.append(_variable(len(lines), Feature("status", meaning="zero, or flags added up"), "output", "Integer"))
    units = sorted({one.unit for one in (*given, *acted)})
    return structure.fill(
        "modelDescription.xml",
        name=structure.prefix(program),
        title=_attribute(structure.title(program)),
        guid=guid,
        units="".join(f"<Unit name={_attribute(unit or '1')}/>" for unit in units),
        variables="\n".join(lines),
        reference=len(lines),
        signature=structure.signature(program),
        unknowns="".join(f'<Unknown index="{index + 1}"/>' for index in range(len(given), len(lines))),
    )


def _variable(reference: int, signal: Feature, causality: str, kind: str) -> str:
    facts = [f"unit={_attribute(signal.unit)}"] if signal.unit else []
    facts += [f'{key}="{end!r}"' for key, end in (("min", signal.low), ("max", signal.high)) if not isinf(end)]
    facts += [f'start="{clip(0.0, signal.low, signal.high)!r}"'] if causality == "input" else []
    head = f'name={_attribute(signal.name)} valueReference="{reference}" description={_attribute(signal.meaning)}'
    inner = f"<{kind} {' '.join(facts)}/>"
    return f'<ScalarVariable {head} causality="{causality}" variability="discrete">{inner}</ScalarVariable>'


def _attribute(text: str) -> str:
    """Any text in quotes, as XML has it."""
    return quoteattr(structure.printable(text))

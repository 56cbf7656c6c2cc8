"""A functional mock-up unit: FMI 2.0 for co-simulation with the emitted C inside, built where there is a compiler."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from math import isinf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.sax.saxutils import quoteattr
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np

from diprl.errors import DiprlError
from diprl.export import c, c_check, structure
from diprl.export.guard import PLAIN, Guard
from diprl.export.parity import Check, Written, compare
from diprl.program import Discrete, Feature, Primitives, Program
from diprl.program.evaluate import clip
from diprl.program.networks import Network
from diprl.program.signature import outputs

PLATFORMS = {"linux": ("linux64", "so"), "darwin": ("darwin64", "dylib"), "win32": ("win64", "dll")}
"""Where a unit keeps its binary, and how that ends."""


def render(program: Program, networks: Sequence[Network] = (), guard: Guard = PLAIN) -> dict[str, bytes]:
    """The unit as one file; networks stay outside, so that a blend takes the primitives' actions."""
    name, texts = structure.prefix(program), parts(program, guard)
    files = {path: text.encode() for path, text in texts.items()}
    if c_check.compiler():
        folder, suffix = PLATFORMS.get(sys.platform, PLATFORMS["linux"])
        files[f"binaries/{folder}/{name}.{suffix}"] = _library(texts)
    return {f"{name}.fmu": archive(files)}


def parts(program: Program, guard: Guard = PLAIN) -> dict[str, str]:
    """What the unit holds besides its binary."""
    name = structure.prefix(program)
    files = {f"sources/{name}.h": c.header(program), f"sources/{name}.c": c.source(program, (), guard)}
    guid = sha256("".join(files.values()).encode()).hexdigest()
    return files | {"sources/fmi2.c": _wrapper(program, guid), "modelDescription.xml": description(program, guid)}


def archive(files: dict[str, bytes]) -> bytes:
    """A zip file that is the same whenever and wherever it is made."""
    stream = BytesIO()
    with ZipFile(stream, "w", ZIP_DEFLATED) as file:
        for name, content in sorted(files.items()):
            entry = ZipInfo(name)
            entry.external_attr, entry.compress_type = 0o644 << 16, ZIP_DEFLATED
            file.writestr(entry, content)
    return stream.getvalue()


def check(written: Written) -> list[Check]:
    """Step the written unit through every observation, where FMPy is installed."""
    if not c_check.compiler():
        return [Check("stepped", note="no C compiler, so the unit holds sources only")]
    try:
        from fmpy import extract, read_model_description  # type: ignore[import-not-found]
        from fmpy.fmi2 import FMU2Slave  # type: ignore[import-not-found]
    except ImportError:
        return [Check("stepped", note="FMPy is not installed")]
    path, program, samples = str(written.files[0]), written.program, written.samples
    rows = samples.features
    if samples.primitive_actions is not None:
        rows = np.concatenate([rows, samples.primitive_actions.reshape(len(rows), -1)], axis=1)
    with TemporaryDirectory() as folder:
        extract(path, folder)
        told: Any = read_model_description(path)
        unit = FMU2Slave(None, guid=told.guid, unzipDirectory=folder, modelIdentifier=told.coSimulation.modelIdentifier)
        found, flags = _stepped(unit, rows.tolist(), program)
    statuses = int((np.array(flags) != written.guard.status(program, samples.features)).sum())
    return [compare("stepped", written, np.array(found), guarded=True), Check("status", len(rows), statuses)]


def _stepped(unit: Any, rows: Sequence[Sequence[float]], program: Program) -> tuple[list[Any], list[int]]:
    """The action and the status after each step."""
    given, acted = (len(signals) for signals in _signals(program))
    inputs, actions, discrete = [*range(given)], [*range(given, given + acted)], _is_discrete(program)
    unit.instantiate()
    unit.setupExperiment(startTime=0.0)
    unit.enterInitializationMode()
    unit.exitInitializationMode()
    found, flags = [], []
    for time, row in enumerate(rows):
        unit.setReal(inputs, row)
        unit.doStep(float(time), 1.0)
        found.append(unit.getInteger(actions)[0] if discrete else unit.getReal(actions))
        flags.append(unit.getInteger([given + acted])[0])
    unit.terminate()
    unit.freeInstance()
    return found, flags


def _is_discrete(program: Program) -> bool:
    return isinstance(program.signature.actions, Discrete)


def _signals(program: Program) -> tuple[list[Feature], list[Feature]]:
    """What goes in and what comes out, with names that differ."""
    actions, inputs = program.signature.actions, structure.variables(program)
    given = [replace(one, name=name) for name, one in zip(inputs.features, program.signature.features, strict=True)]
    given += [Feature(entry) for entries in inputs.entries for entry in entries]
    if isinstance(actions, Discrete):
        listed = ", ".join(f"{index} {name}" for index, name in enumerate(actions.names))
        return given, [Feature("chosen_action", meaning=listed)]
    if isinstance(actions, Primitives):
        ends = zip(actions.low, actions.high, strict=True)
        return given, [Feature(f"blended_action[{index}]", "", *pair) for index, pair in enumerate(ends)]
    return given, [replace(one, name=f"out_{one.name}") for one in outputs(actions)]


def description(program: Program, guid: str) -> str:
    """The unit's modelDescription.xml."""
    given, acted = _signals(program)
    kind = "Integer" if _is_discrete(program) else "Real"
    lines = [_variable(number, one, "input", "Real") for number, one in enumerate(given)]
    lines += [_variable(number, one, "output", kind) for number, one in enumerate(acted, len(given))]
    status, signature = len(lines), structure.signature(program)
    lines.append(_variable(status, Feature("status", meaning="zero, or flags added up"), "output", "Integer"))
    units = sorted({one.unit for one in (*given, *acted) if one.unit and (one in given or kind == "Real")})
    unknowns = [f'<Unknown index="{index + 1}"/>' for index in range(len(given), status + 1)]
    return structure.fill(
        "modelDescription.xml",
        name=structure.prefix(program),
        title=_attribute(structure.title(program)),
        guid=guid,
        units="".join(f"<Unit name={_attribute(unit)}/>" for unit in units) or '<Unit name="1"/>',
        variables="\n".join(lines),
        reference=status + 1,
        signature=signature,
        unknowns="".join(unknowns),
    )


def _variable(reference: int, signal: Feature, causality: str, kind: str) -> str:
    """One line of the list of variables."""
    facts = [("unit", _attribute(signal.unit))] if signal.unit and kind == "Real" else []
    ends = (("min", signal.low), ("max", signal.high))
    facts += [(key, f'"{end!r}"') for key, end in ends if kind == "Real" and not isinf(end)]
    facts += [("start", f'"{clip(0.0, signal.low, signal.high)!r}"')] if causality == "input" else []
    inner = " ".join(f"{key}={value}" for key, value in facts)
    about = f" description={_attribute(signal.meaning)}" if signal.meaning else ""
    head = f'name={_attribute(signal.name)} valueReference="{reference}"{about} causality="{causality}"'
    return f'<ScalarVariable {head} variability="discrete"><{kind} {inner}/></ScalarVariable>'


def _attribute(text: str) -> str:
    """Any text in quotes, as XML has it."""
    return quoteattr(structure.printable(text))


def _wrapper(program: Program, guid: str) -> str:
    """The functions of the standard around the emitted controller."""
    given, acted = _signals(program)
    features = len(program.signature.features)
    mixed = f"&self->input[{features}], " if len(given) > features else ""
    return structure.fill(
        "fmi2.c",
        name=structure.prefix(program),
        guid=guid,
        inputs=len(given),
        outputs=len(acted),
        kind="int" if _is_discrete(program) else "double",
        arguments=f"self->input, {mixed}self->action",
    )


def _library(texts: dict[str, str]) -> bytes:
    """The sources as a shared library."""
    with TemporaryDirectory() as folder:
        for path, text in texts.items():
            (Path(folder) / Path(path).name).write_text(text, encoding="utf-8")
        sources = [Path(path).name for path in texts if path.endswith(".c")]
        command = [c_check.compiler() or "cc", *c_check.FLAGS, "-fvisibility=hidden", "-shared", "-fPIC", "-o", "unit"]
        done = subprocess.run([*command, *sources, "-lm"], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise DiprlError(f"the unit does not compile: {done.stderr.strip()[:2000]}")
        return (Path(folder) / "unit").read_bytes()

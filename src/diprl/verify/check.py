"""The one door: a program and a specification in, a report out."""

from dataclasses import replace
from math import isnan
from pathlib import Path
from time import monotonic

from diprl.program import Program
from diprl.verify.closed_loop.models import Model, model_of
from diprl.verify.context import Context
from diprl.verify.exact.question import Deadline, Undecided, load_z3
from diprl.verify.properties import Property, Safe
from diprl.verify.report import Answer, Finding, Report
from diprl.verify.spec.read import Spec, load_spec
from diprl.verify.spec.tree import SpecError


def verify(program: Program, spec: Spec | str | Path) -> Report:
    """Examine every property of a specification, given as data or as a file."""
    load_z3()
    if not isinstance(spec, Spec):
        spec = load_spec(spec, program)
    model = model_of(spec.task, program)
    findings = tuple(_finding(program, model, spec, wanted) for wanted in spec.properties)
    return Report(findings, _assumptions(program, spec, model))


def _finding(program: Program, model: Model | None, spec: Spec, wanted: Property) -> Finding:
    start = monotonic()
    names = program.signature.feature_names
    _check_box(wanted, len(names))
    try:
        answer = wanted.check(Context(program, model, Deadline(spec.timeout)))
    except Undecided as reason:
        answer = Answer("unknown", str(reason))
    if not isinstance(wanted, Safe) and wanted.box != spec.box:
        answer = replace(answer, assumptions=(f"the box {wanted.box.text(names)}", *answer.assumptions))
    return Finding(wanted.name, wanted.kind, answer, monotonic() - start)


def _check_box(wanted: Property, features: int) -> None:
    low, high = wanted.box.low, wanted.box.high
    fits = len(low) == len(high) == features
    if not fits or any(isnan(a) or isnan(b) or a > b for a, b in zip(low, high, strict=True)):
        raise SpecError(f"the box of '{wanted.name}' must have an interval for each of {features} features")


def _assumptions(program: Program, spec: Spec, model: Model | None) -> tuple[str, ...]:
    """What all verdicts of a report take for granted."""
    names = program.signature.feature_names
    replay = f"replayed in the interpreter{f' and in {spec.task}' if model else ''}"
    return (
        "'proved' is about real arithmetic on the program's own 64-bit numbers, unless a line says more",
        *((f"the box {spec.box.text(names)}, unless a property says otherwise",) if spec.box else ()),
        f"'refuted' means that a witness of 64-bit floats was {replay}, or that no state reaches a branch",
    )

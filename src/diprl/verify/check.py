"""The one door: a program and a specification in, a report out."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

from diprl.program import Program
from diprl.verify.actions import check_actions
from diprl.verify.branches import check_branches
from diprl.verify.constraint import Box
from diprl.verify.context import Context
from diprl.verify.equivalent import check_equivalent
from diprl.verify.models import model_of
from diprl.verify.monotone import check_monotone
from diprl.verify.never import check_never
from diprl.verify.question import Deadline, Undecided, load_z3
from diprl.verify.report import Answer, Finding, Report
from diprl.verify.robust import check_robust
from diprl.verify.safe import check_safe
from diprl.verify.spec import (
    Actions,
    Branches,
    Equivalent,
    MonotoneOutput,
    Never,
    NeverSwitches,
    Property,
    Robust,
    Safe,
    Spec,
    Symmetric,
)
from diprl.verify.spec_read import load_spec
from diprl.verify.symmetric import check_symmetric

CHECKS: dict[type, Callable[[Context, Any], Answer]] = {
    Branches: check_branches,
    Actions: check_actions,
    Never: check_never,
    NeverSwitches: check_monotone,
    MonotoneOutput: check_monotone,
    Robust: check_robust,
    Equivalent: check_equivalent,
    Symmetric: check_symmetric,
    Safe: check_safe,
}


def verify(program: Program, spec: Spec | str | Path) -> Report:
    """Examine every property of a specification, given as data or as a file."""
    load_z3()
    if not isinstance(spec, Spec):
        spec = load_spec(spec, program)
    model = model_of(spec.task, program)
    findings = []
    for wanted in spec.properties:
        context = Context(program, model, Deadline(spec.timeout))
        findings.append(_finding(context, wanted, spec.box))
    return Report(tuple(findings), _assumptions(program, spec))


def _finding(context: Context, wanted: Property, usual: Box | None) -> Finding:
    start = monotonic()
    try:
        answer = CHECKS[type(wanted)](context, wanted)
    except Undecided as reason:
        answer = Answer("unknown", str(reason))
    if not isinstance(wanted, Safe) and wanted.box != usual:
        box = f"the box {wanted.box.text(context.names)}"
        answer = replace(answer, assumptions=(box, *answer.assumptions))
    return Finding(wanted.name, wanted.kind, answer, monotonic() - start)


def _assumptions(program: Program, spec: Spec) -> tuple[str, ...]:
    """What all verdicts of a report take for granted."""
    names = program.signature.feature_names
    replay = f"replayed in the interpreter{f' and in {spec.task}' if model_of(spec.task, program) else ''}"
    return (
        "'proved' is about real arithmetic on the program's own 64-bit numbers, unless a line says more",
        *((f"the box {spec.box.text(names)}, unless a property says otherwise",) if spec.box else ()),
        f"'refuted' means that a witness of 64-bit floats was {replay}, or that no state reaches a branch",
    )

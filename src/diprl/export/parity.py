"""What an export wrote, and how it compares with the interpreter."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.export.guard import PLAIN, Guard
from diprl.export.samples import Samples
from diprl.program import Discrete, Node, Program
from diprl.program.ast import assemble, flatten, number_rows, with_number_rows
from diprl.program.evaluate import act_batch
from diprl.program.networks import Network

NETWORK_TOLERANCE = 1e-9
"""Networks are summed in another order than NumPy's, so their blends are compared to within this."""
SINGLE_TOLERANCE = 1e-3
"""Networks in 32 bits only come near to those in 64."""


@dataclass(frozen=True)
class Written:
    """The files of one target, and the inputs on which they are compared with the program."""

    program: Program
    files: Sequence[Path]
    samples: Samples
    networks: Sequence[Network] = ()
    guard: Guard = PLAIN


@dataclass(frozen=True)
class Check:
    """One comparison of an exported form with the interpreter."""

    name: str
    """What was run, such as 'double'."""
    observations: int = 0
    disagreements: int = 0
    note: str = ""
    """Why it was not checked, or how near 'equal' had to be."""

    def __str__(self) -> str:
        if not self.observations:
            return f"{self.name}: not checked: {self.note}"
        verdict = "agrees" if not self.disagreements else f"DISAGREES {self.disagreements} times"
        note = f" ({self.note})" if self.note else ""
        return f"{self.name}: {verdict} on {self.observations} observations{note}"


@dataclass(frozen=True)
class ExportReport:
    """The files of one target and the checks that they went through."""

    target: str
    files: tuple[Path, ...]
    checks: tuple[Check, ...]
    sample: str = ""
    """What the observations of the checks were."""

    @property
    def agrees(self) -> bool:
        """Whether nothing that was checked disagreed with the interpreter."""
        return not any(check.disagreements for check in self.checks)

    def __str__(self) -> str:
        lines = [f"{self.target}: wrote {', '.join(map(str, self.files))}"]
        lines += [f"    {check}" for check in self.checks]
        if any(check.observations for check in self.checks):
            lines.append(f"    observations: {self.sample}")
        return "\n".join(lines)


def compare(name: str, written: Written, found: NDArray[Any], single: bool = False) -> Check:
    """Exact comparison: the same action or the same bits for every observation; NaN equals NaN."""
    wrong = differing(found, _expected(written.program, written.samples, single))
    return Check(name, len(written.samples), wrong, "in 32 bits" if single else "")


def compare_networks(name: str, written: Written, found: NDArray[Any], single: bool = False) -> Check:
    """Comparison of a whole controller, networks included, to within a tolerance."""
    tolerance = SINGLE_TOLERANCE if single else NETWORK_TOLERANCE
    assert written.samples.senses is not None  # drawn for these networks
    actions = np.stack([network.actions(written.samples.senses) for network in written.networks], axis=1)
    samples = replace(written.samples, primitive_actions=actions)
    near = np.isclose(found, _expected(written.program, samples, single), tolerance, tolerance, equal_nan=True)
    return Check(name, len(samples), int((~near).any(axis=1).sum()), f"to within {tolerance:g}")


def differing(found: NDArray[Any], expected: NDArray[Any]) -> int:
    """How many rows differ."""
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    return int((~same if same.ndim == 1 else ~same.all(axis=1)).sum())


def _expected(program: Program, samples: Samples, single: bool) -> NDArray[Any]:
    return act_single(program, samples) if single else program.act_batch(samples.features, samples.primitive_actions)


def single_precision(root: Node) -> Node:
    """The tree with every number rounded to a 32-bit float; numbers that do not fit become infinite."""
    return assemble(with_number_rows(item, [_single(row) for row in number_rows(item)]) for item in flatten(root))


def act_single(program: Program, samples: Samples) -> NDArray[Any]:
    """What a program does when all of its arithmetic is in 32-bit floats, in the interpreter's order."""
    actions, primitives = program.signature.actions, samples.primitive_actions
    if not isinstance(actions, Discrete):
        actions = replace(actions, low=_single(actions.low), high=_single(actions.high))
    with np.errstate(all="ignore"):
        columns: Any = np.ascontiguousarray(samples.features.T.astype(np.float32))
        blended: Any = None if primitives is None else primitives.astype(np.float32)
    return act_batch(single_precision(program.root), actions, columns, blended)


def _single(values: tuple[float, ...]) -> tuple[float, ...]:
    with np.errstate(all="ignore"):
        return tuple(np.array(values, np.float64).astype(np.float32).astype(np.float64).tolist())

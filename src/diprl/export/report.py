"""What an export wrote, and how far it was checked against the interpreter."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from diprl.export.networks import Network
from diprl.export.samples import Samples
from diprl.program import Program


@dataclass(frozen=True)
class Written:
    """The files of one target, and the inputs on which they are compared with the program."""

    program: Program
    files: Sequence[Path]
    samples: Samples
    networks: Sequence[Network] = ()


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

"""What is proved about a program: from the run folder, or by the cheapest of checks."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.report.source import VERIFICATION, Facts, Source

TIMEOUT = 5.0


@dataclass(frozen=True)
class Finding:
    """One property with its verdict, in words."""

    name: str
    verdict: str
    summary: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Findings:
    """Everything that was verified, and where it comes from."""

    items: tuple[Finding, ...]
    assumptions: tuple[str, ...]
    origin: str


def findings(source: Source) -> Findings | None:
    """What the run folder says, else what a quick look finds; None where no solver is installed."""
    if source.verification is not None:
        return read_findings(source.verification, f"From {VERIFICATION} in the run folder.")
    if find_spec("z3") is None:
        return None
    return read_findings(quick_check(source.program), "A quick check made with this page.")


def quick_check(program: Program) -> Facts:
    """Whether every branch can be reached within the features' bounds."""
    from diprl.verify import Spec, verify
    from diprl.verify.exact.linear import bounds_of
    from diprl.verify.properties import Branches

    reached = Branches("every branch can be reached", bounds_of(program.signature))
    return verify(program, Spec((reached,), timeout=TIMEOUT)).to_dict()


def read_findings(report: Facts, origin: str) -> Findings:
    try:
        items = tuple(_finding(entry) for entry in report["findings"])
        return Findings(items, tuple(report["assumptions"]), origin)
    except (KeyError, TypeError, ValueError) as error:
        raise DiprlError(f"{VERIFICATION} is not what diprl verify --json prints: {error!r}") from error


def _finding(entry: Facts) -> Finding:
    answer: dict[str, Any] = entry["answer"]
    witness = answer.get("witness") or {"states": (), "replays": ()}
    states = [
        f"{label}: " + ", ".join(f"{name} = {value:.6g}" for name, value in values)
        for label, values in witness["states"]
    ]
    replays = [f"replayed: {replay}" for replay in witness["replays"]]
    assumed = [f"assumed: {one}" for one in answer["assumptions"]]
    return Finding(
        entry["name"], answer["verdict"], answer["summary"], (*answer["details"], *states, *replays, *assumed)
    )

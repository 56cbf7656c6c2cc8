"""What is proved about a program: read from the run folder, or found by a quick check."""

from importlib.util import find_spec

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.report.source import VERIFICATION, Json, Source
from diprl.verify import Answer, Finding, Report, Spec, Witness, verify
from diprl.verify.exact.linear import bounds_of
from diprl.verify.properties import Branches

TIMEOUT = 5.0


def findings(source: Source) -> tuple[Report, str] | None:
    """The findings and where they come from; None where the folder has none and no solver is installed."""
    if source.verification is not None:
        return read_report(source.verification), f"From {VERIFICATION} in the run folder."
    if find_spec("z3") is None:
        return None
    return quick_check(source.program), "A quick check made with this page."


def quick_check(program: Program) -> Report:
    """Whether every branch can be reached within the features' bounds."""
    reached = Branches("every branch can be reached", bounds_of(program.signature))
    return verify(program, Spec((reached,), timeout=TIMEOUT))


def read_report(report: Json) -> Report:
    """The report that `diprl verify --json` printed."""
    try:
        return Report(tuple(map(_finding, report["findings"])), tuple(map(str, report["assumptions"])))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DiprlError(f"{VERIFICATION} is not what diprl verify --json prints: {error!r:.200}") from error


def _finding(entry: Json) -> Finding:
    """One finding as text; the lines of its witness are among the details."""
    answer = entry["answer"]
    if answer["verdict"] not in ("proved", "refuted", "unknown"):
        raise ValueError(f"the verdict {answer['verdict']!r:.40}")
    witness = Witness(**answer["witness"]).lines() if answer["witness"] else []
    details, assumptions = (*map(str, answer["details"]), *witness), tuple(map(str, answer["assumptions"]))
    told = Answer(answer["verdict"], str(answer["summary"]), details, assumptions=assumptions)
    return Finding(str(entry["name"]), str(entry["kind"]), told, 0.0)

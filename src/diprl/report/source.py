"""What the page knows about a run, and what is proved about its program.

Only this module knows the file names and the JSON fields of a run folder, which may come from anybody. Where a number
should be, charts leave out anything else; all other values become text, which the page escapes.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from diprl.errors import DiprlError
from diprl.program import Program
from diprl.runs.folder import CONFIG, METRICS_JSONL, load_program, read_result, read_spec
from diprl.runs.observers import read_rows
from diprl.runs.result import Result
from diprl.runs.spec import RunSpec
from diprl.system.files import read_json
from diprl.verify import Answer, Finding, Report, Spec, Witness, verify
from diprl.verify.exact.linear import bounds_of
from diprl.verify.properties import Branches

VERIFICATION = "verification.json"
"""Where a run folder keeps what `diprl verify --json` printed."""

Json = Mapping[str, Any]
TIMEOUT = 5.0


@dataclass(frozen=True)
class Source:
    """A program with what is known of its training; a bare program file knows nothing of it."""

    path: Path
    program: Program
    spec: RunSpec | None = None
    result: Result | None = None
    siblings: Sequence[Result] = ()
    """Results of the same experiment with other seeds, by seed."""
    metrics: Sequence[Json] = ()
    """What was measured at each report of the training."""
    verification: Json | None = None

    @property
    def name(self) -> str:
        return self.program.task or self.path.stem


def read_source(path: Path) -> Source:
    """Read a run folder, or a program file."""
    if not path.is_dir():
        return Source(path, load_program(path))
    spec = read_spec(path) if (path / CONFIG).exists() else None
    program, result = load_program(path), read_result(path)
    siblings = sorted(_siblings(path, spec), key=lambda sibling: sibling.spec.seed) if spec else ()
    metrics, verification = read_rows(path / METRICS_JSONL), path / VERIFICATION
    checked = read_json(verification) if verification.exists() else None
    return Source(path, program, spec, result, siblings, metrics, checked)


def _siblings(path: Path, spec: RunSpec) -> Iterator[Result]:
    """Finished runs next to this one that differ in nothing but the seed; one that is damaged is left out."""
    for other in path.resolve().parent.iterdir():
        with suppress(DiprlError, OSError):
            result = read_result(other)
            if result and result.spec.seed != spec.seed and replace(result.spec, seed=spec.seed) == spec:
                yield result


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

"""What was found about each property, in words and as plain data."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from diprl.errors import visible

Verdict = Literal["proved", "refuted", "unknown"]


@dataclass(frozen=True)
class Witness:
    """States that show a property false, and what happened when they were replayed."""

    states: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]
    """Each with a label such as 'state' or 'start', as pairs of feature name and value."""
    replays: tuple[str, ...]
    """One sentence per replay, in the interpreter and perhaps in the environment."""

    def lines(self) -> list[str]:
        states = [f"{label}: {named_text(values)}" for label, values in self.states]
        return states + [f"replayed: {replay}" for replay in self.replays]


@dataclass(frozen=True)
class Answer:
    """The verdict on one property with its reasons."""

    verdict: Verdict
    summary: str
    """One sentence: what was proved, what is false, or why neither is known."""
    details: tuple[str, ...] = ()
    witness: Witness | None = None
    assumptions: tuple[str, ...] = ()
    """What the verdict takes for granted."""
    real_only: bool = False
    """Whether a proof is about real arithmetic and leaves out how the running program rounds."""
    certificate: dict[str, Any] | None = field(default=None, repr=False, compare=False)
    """A proof that `diprl.verify.checker` can check again."""

    @property
    def told(self) -> str:
        """The verdict as it is printed."""
        return f"{self.verdict} in real arithmetic only:" if self.real_only else f"{self.verdict:8}"


@dataclass(frozen=True)
class Finding:
    """The answer to one property of a specification."""

    name: str
    kind: str
    answer: Answer
    seconds: float

    def lines(self) -> list[str]:
        answer = self.answer
        witness = answer.witness.lines() if answer.witness else []
        body = [answer.summary, *answer.details, *witness, *(f"assumed: {one}" for one in answer.assumptions)]
        return [f"{answer.told} {self.name}  [{self.kind}, {self.seconds:.2f} s]", *_indented(body)]


@dataclass(frozen=True)
class Report:
    """Every property of a specification with its verdict."""

    findings: tuple[Finding, ...]
    assumptions: tuple[str, ...]
    """What all verdicts take for granted."""

    @property
    def proved(self) -> bool:
        """Whether every single property is proved."""
        return all(finding.answer.verdict == "proved" for finding in self.findings)

    def count(self, verdict: Verdict) -> int:
        return sum(finding.answer.verdict == verdict for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        bare = [replace(one, answer=replace(one.answer, certificate=None)) for one in self.findings]
        return {"proved": self.proved} | asdict(replace(self, findings=tuple(bare)))

    def __str__(self) -> str:
        lines = [line for finding in self.findings for line in finding.lines()]
        lines += ["assumed throughout:", *_indented(self.assumptions)]
        totals = ", ".join(f"{self.count(verdict)} {verdict}" for verdict in ("proved", "refuted", "unknown"))
        return visible("\n".join([*lines, f"{totals} in {sum(finding.seconds for finding in self.findings):.2f} s"]))


def named_text(values: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in values)


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"         {line}" for line in lines]

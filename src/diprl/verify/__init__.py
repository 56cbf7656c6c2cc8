"""Claims about a program: proved, refuted with a witness, or unknown with the reason."""

from diprl.verify.check import Spec, load_spec, parse_spec, verify
from diprl.verify.report import Answer, Finding, Report, Verdict, Witness
from diprl.verify.spec import SpecError

__all__ = [
    "Answer",
    "Finding",
    "Report",
    "Spec",
    "SpecError",
    "Verdict",
    "Witness",
    "load_spec",
    "parse_spec",
    "verify",
]

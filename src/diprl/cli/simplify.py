"""`diprl simplify`: a smaller program with nearly the same score."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from diprl.cli.change import ChangeCommand
from diprl.cli.options import Count, MaybeNumber, Number
from diprl.errors import DiprlError
from diprl.terminal.layout import say, say_labelled
from diprl.terminal.progress import Working

if TYPE_CHECKING:
    from diprl.program import Program


@dataclass(frozen=True, kw_only=True)
class Simplify(ChangeCommand):
    """Drop conditions, numbers and digits that do not matter for the score.

    Ctrl-C ends the search; what was found by then is compared, and the smallest that keeps the score is written.
    """

    file: ClassVar[str] = "simplified.json"
    tolerance: Number = 0.01
    """How much of the score may be given up, as a fraction."""
    seconds: MaybeNumber = None
    """Wall time to search for; default: 48 on a task with a compiled twin, 320 elsewhere."""
    episodes: Count = 1000
    """Fresh episodes on the reference environment that both programs are scored on."""
    seed: Count = 0
    """Seed of the search."""

    def run(self) -> None:
        from diprl.system.processes import Interruption

        with Working("reading the program"):
            from diprl.terminal.printing import STAGE_COLUMNS, print_front, print_program, stage_line

            program, target = self.load_program(), self.target()
        if not 0 <= self.tolerance < 1:
            raise DiprlError(f"--tolerance must lie between 0 and 1, not {self.tolerance}")
        if self.seconds is not None and self.seconds <= 0:
            raise DiprlError(f"--seconds must be positive, not {self.seconds}")
        say("before\n")
        print_program(program)
        interruption = Interruption()
        with interruption.listening(then="comparing what was found"), Working("compiling …") as working:
            from diprl.methods.retrain import retrainer
            from diprl.runs.folder import front_of_run
            from diprl.search.simplify import simplify
            from diprl.system.device import use_compilation_cache

            use_compilation_cache()
            _, task = self.load()
            working.line(STAGE_COLUMNS)

            def show(what: str, smaller: "Program") -> None:
                working.line(stage_line(what, smaller))
                working.show(f"looking for less than {smaller.coefficients} numbers")

            options: dict[str, Any] = {"seconds": self.seconds, "seed": self.seed, "show": show}
            options |= {"others": front_of_run(self.program), "train": retrainer(task, program)}
            found = simplify(task, program, self.tolerance, **options, enough=lambda: interruption.asked)
            working.line(f"used {found.steps:,} environment steps")
        found.program.save(target)
        say("\nprograms by size, scored on validation episodes\n")
        print_front(found.front)
        say("\nafter\n")
        print_program(found.program)
        scores = self.scores(task, program, found.program)
        say_labelled("written", target)
        sizes = [program.coefficients, found.program.coefficients]
        told = {"front": found.front.to_json(), "steps": found.steps, "program": str(found.program)}
        self.print_json(coefficients=sizes, **scores, **told, written=target)

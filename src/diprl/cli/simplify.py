"""`diprl simplify`: a smaller program with nearly the same score."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from diprl.cli.change import ChangeCommand
from diprl.cli.options import Count, Number
from diprl.errors import DiprlError
from diprl.terminal.layout import say, say_labelled
from diprl.terminal.progress import Working

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, kw_only=True)
class Simplify(ChangeCommand):
    """Drop conditions, coefficients and digits that do not matter for the score.

    Ctrl-C ends the search; the smallest program that was accepted by then is written.
    """

    file: ClassVar[str] = "simplified.json"
    tolerance: Number = 0.01
    """How much of the score may be given up, as a fraction."""
    episodes: Count = 1000
    """Fresh episodes on the reference environment that both programs are scored on."""

    def run(self) -> None:
        with Working("reading the program"):
            from diprl.terminal.printing import STAGE_COLUMNS, print_program, stage_line

            program, target, stages, steps = self.load_program(), self.target(), [], None
        if not 0 <= self.tolerance < 1:
            raise DiprlError(f"--tolerance must lie between 0 and 1, not {self.tolerance}")
        say("before\n")
        print_program(program)
        with Working("compiling …") as working:

            def show(stage: Any) -> None:
                working.line(stage_line(stage) if stages else f"{STAGE_COLUMNS}\n{stage_line(stage)}")
                stages.append(stage)
                size = f"{stage.program.conditions} conditions, {stage.program.coefficients} numbers"
                working.show(f"looking for less than {size}")

            from diprl.methods.retrain import retrainer
            from diprl.search.simplify import simplify
            from diprl.system.device import use_compilation_cache

            use_compilation_cache()
            _, task = self.load()
            try:
                steps = simplify(task, program, self.tolerance, retrain=retrainer(task, program), show=show).steps
                working.line(f"used {steps:,} environment steps")
            except KeyboardInterrupt:
                if not stages:
                    raise
                working.line("stopped: the smallest so far is kept, without the last check on fresh episodes")
        found = stages[-1].program
        found.save(target)
        say("\nafter\n")
        print_program(found)
        scores = self.scores(task, program, found)
        say_labelled("written", target)
        sizes = [program.coefficients, found.coefficients]
        self.print_json(coefficients=sizes, **scores, steps=steps, program=str(found), written=target)

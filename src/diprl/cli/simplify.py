"""`diprl simplify`: the shortest program whose score stays within a tolerance."""

from dataclasses import dataclass

from diprl.cli.options import ChangeCommand


@dataclass(frozen=True, kw_only=True)
class Command(ChangeCommand):
    """Drop conditions, coefficients and digits that do not matter for the score."""

    tolerance: float = 0.01
    """How much of the score may be given up, as a fraction."""
    episodes: int = 1000
    """Fresh episodes on the reference environment that both programs are scored on."""

    def run(self) -> None:
        from diprl.methods.retrain import retrainer
        from diprl.search.simplify import simplify
        from diprl.terminal.programs import body
        from diprl.terminal.tables import STAGE_COLUMNS, print_stage

        program, task = self.load()
        print(f"before\n\n{body(program)}\n\n{STAGE_COLUMNS}", flush=True)
        found = simplify(task, program, self.tolerance, retrain=retrainer(task, program), show=print_stage)
        print(f"\nafter\n\n{body(found.program)}\n")
        scores = self.print_scores(task, program, found.program)
        print(f"used    {found.steps:,} environment steps")
        self.write(found.program, "simplified.json")
        sizes = [program.coefficients, found.program.coefficients]
        self.print_json(coefficients=sizes, **scores, steps=found.steps, program=str(found.program))

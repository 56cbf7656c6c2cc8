"""`diprl polish`: better numbers for a program, judged by its true return."""

from dataclasses import dataclass

from diprl.cli.options import ChangeCommand


@dataclass(frozen=True, kw_only=True)
class Command(ChangeCommand):
    """Search over a program's numbers on its true return; the result is never worse than the program."""

    seconds: float = 60.0
    """Wall time to search for."""
    steps: float = float("inf")
    """Environment steps to search for, if that comes first."""
    seed: int = 0
    """Seed of the search."""

    def run(self) -> None:
        from diprl.search.polish import polish
        from diprl.search.search import Budget

        program, task = self.load()
        found = polish(task, program, Budget(self.steps, self.seconds), seed=self.seed)
        trial = found.trial
        verdict = "accepted" if trial.accepted else "nothing better found, program kept"
        print(f"{verdict}: gain {trial.gain:.2f} ± {trial.error:.2f} on fresh episodes")
        scores = self.print_scores(task, program, found.program)
        print(f"used    {trial.steps:,} environment steps, {found.seconds:.0f} s")
        self.write(found.program, "polished.json")
        self.print_json(**trial._asdict(), **scores, seconds=found.seconds, program=str(found.program))
